import type { Workspace } from '../common/workspace.ts';
import { type Evidence, Judge, type SecondRun } from './judge.ts';
import { isTimeLike } from './metric-names.ts';
import { Pace } from './pace.ts';
import { literalOf } from './scales.ts';
import { CoordinateSearch, type Ending, type Proposal } from './search.ts';
import type { Outcome, TrialRunner } from './trial.ts';
import { ScriptVersions } from './versions.ts';

/** Versions of the script that were tried, by how it went. */
export interface Tally {
  tried: number;
  kept: number;
  failed: number;
}

interface Verdict {
  ending: Ending;
  observed: string;
  decision: string;
}

/** The search for a better version of a script that runs: its state between two tries. */
export class Study {
  readonly #workspace: Workspace;
  readonly #runner: TrialRunner;
  readonly #versions: ScriptVersions;
  readonly #search: CoordinateSearch;
  readonly #pace: Pace;
  readonly #checksSubmission: boolean;
  readonly #starter: Evidence;
  #best: Evidence;
  #judge: Judge | null = null;
  #inVain = 0;
  #whyNoSearch: string | null = null;
  readonly tally: Tally = { tried: 0, kept: 0, failed: 0 };

  /** Starts from a starter that was run and measured; `checksSubmission`: its submission was accepted. */
  constructor(
    workspace: Workspace,
    runner: TrialRunner,
    source: string,
    starter: Outcome & { kind: 'measured' },
    checksSubmission: boolean,
    random: () => number,
  ) {
    this.#workspace = workspace;
    this.#runner = runner;
    this.#checksSubmission = checksSubmission;
    // A number that changes what is computed also changes how long it takes: that would be less work, not faster work.
    const timeLike = isTimeLike(workspace.task.metric);
    this.#versions = new ScriptVersions(
      source,
      (knob) => !timeLike || /chunk|block|tile|buffer/i.test(knob.name),
    );
    this.#search = new CoordinateSearch(this.#versions.knobs, random);
    this.#pace = new Pace(this.#versions.knobs);
    this.#pace.learn(this.#search.values, starter.seconds);
    this.#starter = { first: starter.score, second: null };
    this.#best = this.#starter;
  }

  /** Tries since the last one that helped. */
  get inVain(): number {
    return this.#inVain;
  }

  /** Why no change was tried; null where there was no reason not to. */
  get whyNoSearch(): string | null {
    return this.#whyNoSearch;
  }

  get best(): Evidence {
    return this.#best;
  }

  get starter(): Evidence {
    return this.#starter;
  }

  /** What the best version changes in the starter; empty where it is the starter. */
  get changes(): string[] {
    return this.#versions.changes(this.#search.values);
  }

  get bestSource(): string {
    return this.#versions.render(this.#search.values) ?? this.#versions.source;
  }

  get pace(): Pace {
    return this.#pace;
  }

  get bestValues(): readonly number[] {
    return this.#search.values;
  }

  /** Runs the starter a second time, to see what a score is worth. False: there is nothing to search, or no time. */
  async measureNoise(): Promise<boolean> {
    const { knobs, seeds } = this.#versions;
    if (knobs.length === 0) {
      return this.#skip('I found no number in the script that I could sensibly change.');
    }
    if (!this.#pace.affords(this.#search.values, 3, this.#workspace.budget)) {
      return this.#skip('the budget leaves no room for a search.');
    }
    const way: SecondRun = seeds.length > 0 ? 'other seeds' : 'same again';
    this.#workspace.note({
      Plan: `I can change ${knobs.length} numbers: ${knobs.map(({ name, literal }) => `${name}=${literal}`).join(', ')}.`,
      Reason: `The script scores ${this.#starter.first}. I run it again (${way}) to see how much of a score is luck.`,
    });
    const outcome = await this.#runSecond(this.#search.values, way);
    if (outcome === null || outcome.kind === 'failed') {
      return this.#skip(`a second run of it gave no score: ${outcome?.why ?? 'not enough budget'}.`);
    }
    const isExact = outcome.score === this.#starter.first;
    this.#starter.second = isExact ? null : outcome.score;
    this.#judge = new Judge(
      this.#workspace.task.metric,
      this.#starter,
      isExact ? 'not needed' : way,
      way === 'other seeds' && this.#versions.seedsSplitData(),
    );
    this.#workspace.note({
      Observed: `${outcome.line}; the first run scored ${this.#starter.first}.`,
      Decision: `I keep a change only if it gains more than ${short(this.#judge.threshold)}.`,
    });
    return true;
  }

  /** Tries one change. False: none is left that was not tried and fits the budget. */
  async tryNext(): Promise<boolean> {
    const judge = this.#judge;
    if (judge === null || this.#workspace.ended) return false;
    const runs = judge.secondRun === 'not needed' ? 1 : 2;
    const proposal = this.#search.next((values) => this.#pace.affords(values, runs, this.#workspace.budget));
    if (proposal === null) return false;
    const source = this.#versions.render(proposal.values);
    if (source === null) {
      this.#search.tell(proposal, 'put back');
      return true;
    }
    this.#announce(proposal, judge);
    const outcome = await this.#runner.run(source);
    const verdict = await this.#judgeOutcome(judge, proposal, outcome);
    this.#workspace.note({ Observed: verdict.observed, Decision: verdict.decision });
    this.#search.tell(proposal, verdict.ending);
    this.tally.tried += 1;
    this.#inVain = verdict.ending === 'kept' ? 0 : this.#inVain + 1;
    if (verdict.ending !== 'kept' && this.#mustPutBack(outcome)) await this.#runner.write(this.bestSource);
    return true;
  }

  #announce({ knob, values, from, to, reason }: Proposal, judge: Judge): void {
    const { metric } = this.#workspace.task;
    const way = metric.direction === 'maximize' ? 'rises' : 'falls';
    this.#workspace.note({
      Reason: reason,
      Change: `${knob.name}: ${literalOf(knob, from)} → ${literalOf(knob, to)} (line ${knob.line}).`,
      Prediction:
        `If it helps, the script's own ${metric.name} ${way} from ${this.#best.first} by more than ` +
        `${short(judge.threshold)}. The run takes about ${short(this.#pace.expected(values))} s.`,
    });
  }

  async #judgeOutcome(judge: Judge, proposal: Proposal, outcome: Outcome): Promise<Verdict> {
    if (outcome.kind === 'failed') {
      this.tally.failed += 1;
      if (outcome.timedOut) this.#pace.learnLimit(outcome.seconds);
      return {
        ending: 'put back',
        observed: `${outcome.why}.`,
        decision: 'A failure is the worst score: put back.',
      };
    }
    const observed = `${outcome.line} (${short(outcome.seconds)} s).`;
    const { first } = this.#best;
    if (outcome.score === first) {
      return { ending: 'without effect', observed, decision: 'The score did not change at all: put back.' };
    }
    if (!judge.isPromising(outcome.score, this.#best)) {
      const gain = short(judge.gain(outcome.score, first));
      return {
        ending: 'put back',
        observed,
        decision: `A gain of ${gain} is not above the noise: put back.`,
      };
    }
    if (this.#checksSubmission && (await this.#workspace.validateSubmission()).status !== 'ok') {
      return {
        ending: 'put back',
        observed,
        decision: 'Better, but its submission is not accepted: put back.',
      };
    }
    return await this.#confirm(judge, proposal, outcome, observed);
  }

  /** Measures a promising version a second time, where one measurement is not enough, and keeps it if it holds. */
  async #confirm(
    judge: Judge,
    proposal: Proposal,
    outcome: Outcome & { kind: 'measured' },
    observed: string,
  ): Promise<Verdict> {
    const evidence: Evidence = { first: outcome.score, second: null };
    let seen = observed;
    if (judge.secondRun !== 'not needed') {
      const again = await this.#runSecond(proposal.values, judge.secondRun);
      if (again === null || again.kind === 'failed') {
        const decision = 'Better once, but a second run gave no score: put back.';
        return { ending: 'put back', observed: seen, decision };
      }
      evidence.second = again.score;
      seen += ` Second run (${judge.secondRun}): ${again.line}.`;
    }
    if (!judge.isBetter(evidence, this.#best)) {
      return {
        ending: 'put back',
        observed: seen,
        decision: 'Better once, but not beyond the noise: put back.',
      };
    }
    this.#best = evidence;
    this.#pace.learn(proposal.values, outcome.seconds);
    this.tally.kept += 1;
    return { ending: 'kept', observed: seen, decision: 'Better by more than the noise: kept.' };
  }

  async #runSecond(values: readonly number[], way: SecondRun): Promise<Outcome | null> {
    const source = this.#versions.render(values, way === 'other seeds' ? 1 : 0);
    return source === null || this.#workspace.ended ? null : await this.#runner.run(source);
  }

  /** The next try overwrites the script anyway; but a broken one, or one that is submitted, must not lie there. */
  #mustPutBack(outcome: Outcome): boolean {
    const { entry, submission } = this.#workspace.task;
    return (
      !this.#workspace.ended &&
      (outcome.kind === 'failed' || submission.files.some(({ path }) => path === entry))
    );
  }

  #skip(why: string): false {
    this.#whyNoSearch = why;
    this.#workspace.note({ Decision: `I do not search: ${why}` });
    return false;
  }
}

/** A number for people: four significant digits. */
export function short(value: number): string {
  return String(Number(value.toPrecision(4)));
}
