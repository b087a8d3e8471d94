import type { Lesson, Metric } from '../../schema/index.ts';
import type { Workspace } from '../common/workspace.ts';
import { type Evidence, Judge, type SecondRun } from './judge.ts';
import { isTimeLike } from './metric-names.ts';
import { Pace } from './pace.ts';
import { leftForTries } from './savings.ts';
import { type StrategyName, strategies } from './strategies.ts';
import type { Ending, Proposal, Strategy, Version } from './strategy.ts';
import type { Outcome, TrialRunner } from './trial.ts';
import { ScriptVersions } from './versions.ts';

/** Versions of the script that were tried, by how it went. */
export interface Tally {
  tried: number;
  kept: number;
  failed: number;
}

/** A version that was measured. */
export interface Candidate extends Version {
  evidence: Evidence;
}

/** How to search, and whether to select in the end. */
export interface SearchSettings {
  search: StrategyName;
  select: boolean;
  /** What other runs found out; none for the controls. */
  experience?: readonly Lesson[] | undefined;
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
  readonly #settings: SearchSettings;
  readonly #search: Strategy;
  readonly #pace: Pace;
  readonly #checksSubmission: boolean;
  readonly #starter: Candidate;
  /** Versions that were kept, the best one last; the starter is none of them. */
  readonly #kept: Candidate[] = [];
  #best: Candidate;
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
    { search, select, experience = [] }: SearchSettings,
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
    const { knobs } = this.#versions;
    this.#settings = { search, select };
    this.#search = strategies[search](knobs, random, experience, starter.seconds);
    const values = knobs.map(({ value }) => value);
    this.#pace = new Pace(knobs);
    this.#pace.learn(values, starter.seconds);
    this.#starter = { values, seedOffset: 0, evidence: { first: starter.score, second: null } };
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

  get best(): Candidate {
    return this.#best;
  }

  get starter(): Candidate {
    return this.#starter;
  }

  /** Null before the noise was measured. */
  get judge(): Judge | null {
    return this.#judge;
  }

  /** Whether the best versions are measured again in the end: not where all scores are exact, or luck is looked for. */
  get selects(): boolean {
    return this.#settings.select && this.#judge !== null && this.#judge.secondRun !== 'not needed';
  }

  /** The best version and the one that was best before it, where changes were kept. */
  get finalists(): Candidate[] {
    return this.#kept.slice(-2).reverse();
  }

  /** What the best version changes in the starter; empty where it is the starter. */
  get changes(): string[] {
    const { values, seedOffset } = this.#best;
    const changes = this.#versions.changes(values);
    return seedOffset === 0 ? changes : [...changes, `every seed raised by ${seedOffset}`];
  }

  get bestSource(): string {
    return this.sourceOf(this.#best);
  }

  get pace(): Pace {
    return this.#pace;
  }

  /** The script of a version that was run before, its seeds raised once more. */
  sourceOf({ values, seedOffset }: Version, raisedBy = 0): string {
    return this.#versions.render(values, seedOffset + raisedBy) ?? this.#versions.source;
  }

  /** Takes one of the versions that were kept, or the starter, as the best. */
  settle(candidate: Candidate): void {
    this.#best = candidate;
  }

  /** Learns what a gain must exceed. False: there is nothing to search, or no time. */
  async prepare(): Promise<boolean> {
    if (this.#settings.search !== 'seeds') return await this.#measureNoise();
    if (this.#versions.seeds.length === 0) return this.#skip('I found no seed in the script.');
    this.#judge = new Judge(this.#workspace.task.metric, this.#starter.evidence, 'not needed', false, 0);
    this.#workspace.note({
      Plan: 'I run the starter on other seeds again and again, and keep the seed that scores best.',
    });
    return true;
  }

  /** Runs the starter a second time, to see what a score is worth. False: there is nothing to search, or no time. */
  async #measureNoise(): Promise<boolean> {
    const { knobs, seeds } = this.#versions;
    if (knobs.length === 0) {
      return this.#skip('I found no number in the script that I could sensibly change.');
    }
    if (!this.#pace.affords(this.#starter.values, 3, this.#workspace.budget)) {
      return this.#skip('the budget leaves no room for a search.');
    }
    const way: SecondRun = seeds.length > 0 ? 'other seeds' : 'same again';
    this.#workspace.note({
      Plan: `I can change ${knobs.length} numbers: ${knobs.map(({ name, literal }) => `${name}=${literal}`).join(', ')}.`,
      Reason: `The script scores ${this.#starter.evidence.first}. I run it again (${way}) to see how much of a score is luck.`,
    });
    const outcome = await this.#runSecond(this.#starter.values, way);
    if (outcome === null || outcome.kind === 'failed') {
      return this.#skip(`a second run of it gave no score: ${outcome?.why ?? 'not enough budget'}.`);
    }
    const { evidence } = this.#starter;
    const isExact = outcome.score === evidence.first;
    evidence.second = isExact ? null : outcome.score;
    this.#judge = new Judge(
      this.#workspace.task.metric,
      evidence,
      isExact ? 'not needed' : way,
      way === 'other seeds' && this.#versions.seedsSplitData(),
    );
    this.#workspace.note({
      Observed: `${outcome.line}; the first run scored ${evidence.first}.`,
      Decision: `I keep a change only if it gains more than ${short(this.#judge.threshold)}.`,
    });
    return true;
  }

  /** Tries one change. False: none is left that was not tried and fits the budget. */
  async tryNext(): Promise<boolean> {
    const judge = this.#judge;
    if (judge === null || this.#workspace.ended) return false;
    const runs = judge.secondRun === 'not needed' ? 1 : 2;
    const proposal = this.#search.next((values) => {
      const measuredAgain = this.selects ? [this.#starter.values, values] : [];
      const budget = leftForTries(this.#workspace.budget, this.#pace, measuredAgain);
      return this.#pace.affords(values, runs, budget);
    });
    if (proposal === null) return false;
    const source = this.#versions.render(proposal.values, proposal.seedOffset);
    if (source === null) {
      this.#search.tell(proposal, 'put back', null);
      return true;
    }
    this.#announce(proposal, judge);
    const outcome = await this.#runner.run(source);
    if (proposal.isScout === true) return await this.#learnFromScout(proposal, outcome);
    const verdict = await this.#judgeOutcome(judge, proposal, outcome);
    this.#workspace.note({ Observed: verdict.observed, Decision: verdict.decision });
    this.#search.tell(proposal, verdict.ending, lossOf(outcome, this.#workspace.task.metric));
    this.tally.tried += 1;
    this.#inVain = verdict.ending === 'kept' ? 0 : this.#inVain + 1;
    if (verdict.ending !== 'kept') await this.#putBack();
    return true;
  }

  /** A scout is told to the search, and never kept; it is no try in vain either. */
  async #learnFromScout(proposal: Proposal, outcome: Outcome): Promise<true> {
    const isFailure = outcome.kind === 'failed';
    if (isFailure && outcome.timedOut) this.#pace.learnLimit(outcome.seconds);
    this.#workspace.note({
      Observed: `${isFailure ? outcome.why : outcome.line} (${short(outcome.seconds)} s).`,
      Decision: 'Only a short run, to choose by: put back.',
    });
    this.#search.tell(proposal, 'scouted', lossOf(outcome, this.#workspace.task.metric));
    this.tally.tried += 1;
    if (isFailure) this.tally.failed += 1;
    await this.#putBack();
    return true;
  }

  #announce({ values, change, reason, isScout }: Proposal, judge: Judge): void {
    const { metric } = this.#workspace.task;
    const time = `about ${short(this.#pace.expected(values))} s`;
    if (isScout === true) {
      const Prediction = `The run takes ${time}; its ${metric.name} is compared with those of other runs as short.`;
      this.#workspace.note({ Reason: reason, Change: change, Prediction });
      return;
    }
    const way = metric.direction === 'maximize' ? 'rises' : 'falls';
    this.#workspace.note({
      Reason: reason,
      Change: change,
      Prediction:
        `If it helps, the script's own ${metric.name} ${way} from ${this.#best.evidence.first} by more than ` +
        `${short(judge.threshold)}. The run takes ${time}.`,
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
    const { first } = this.#best.evidence;
    if (outcome.score === first) {
      return { ending: 'without effect', observed, decision: 'The score did not change at all: put back.' };
    }
    if (!judge.isPromising(outcome.score, this.#best.evidence)) {
      const gain = short(judge.gain(outcome.score, first));
      return {
        ending: 'put back',
        observed,
        decision: `A gain of ${gain} is not above ${short(judge.threshold)}: put back.`,
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
    if (!judge.isBetter(evidence, this.#best.evidence)) {
      return {
        ending: 'put back',
        observed: seen,
        decision: 'Better once, but not beyond the noise: put back.',
      };
    }
    const { values, seedOffset } = proposal;
    const gain = short(judge.gain(evidence.first, this.#best.evidence.first));
    this.#best = { values, seedOffset, evidence };
    this.#kept.push(this.#best);
    this.#pace.learn(values, outcome.seconds);
    this.tally.kept += 1;
    return {
      ending: 'kept',
      observed: seen,
      decision: `A gain of ${gain}, more than ${short(judge.threshold)}: kept.`,
    };
  }

  async #runSecond(values: readonly number[], way: SecondRun): Promise<Outcome | null> {
    const source = this.#versions.render(values, way === 'other seeds' ? 1 : 0);
    return source === null || this.#workspace.ended ? null : await this.#runner.run(source);
  }

  /**
   * The next try overwrites the script anyway; but a broken one, or one that is submitted, must not lie there. Nor must
   * a submission that a failed run tore: then the best version is run again.
   */
  async #putBack(): Promise<void> {
    const { entry, submission } = this.#workspace.task;
    const hasFailed = this.#runner.hasFailed;
    if (this.#workspace.ended || !(hasFailed || submission.files.some(({ path }) => path === entry))) return;
    await this.#runner.write(this.bestSource);
    if (!hasFailed || !this.#checksSubmission || this.#workspace.ended) return;
    if ((await this.#workspace.validateSubmission()).status === 'ok') return;
    if (!this.#pace.affordsLastRun(this.#best.values, 3, this.#workspace.budget)) return;
    this.#workspace.note({
      Observed: 'The failed run left a submission that is not accepted.',
      Decision: 'I run the best version again, so that a valid one is in place.',
    });
    await this.#runner.run(this.bestSource);
  }

  #skip(why: string): false {
    this.#whyNoSearch = why;
    this.#workspace.note({ Decision: `I do not search: ${why}` });
    return false;
  }
}

function lossOf(outcome: Outcome, { direction }: Metric): number | null {
  if (outcome.kind === 'failed') return null;
  return direction === 'maximize' ? -outcome.score : outcome.score;
}

/** A number for people: four significant digits. */
export function short(value: number): string {
  return String(Number(value.toPrecision(4)));
}
