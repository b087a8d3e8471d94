import type { SubmissionSeen } from '../../environment/index.ts';
import type { AgentOptions } from '../../schema/index.ts';
import type { Agent } from '../agent.ts';
import { choiceOption, wholeNumberOption } from '../common/options.ts';
import { seededRandom } from '../common/seeded-random.ts';
import { Workspace } from '../common/workspace.ts';
import { answerWithBest, answerWithoutSearch } from './finish.ts';
import { replaceModel, replaceUseless, rerunModel } from './model-writing/fill.ts';
import type { Filled, Filling } from './model-writing/fulfil.ts';
import { type NumberSearch, searchNumbers, strategyNames, trainLonger } from './number-search.ts';
import { rewriteScript } from './rewriting.ts';
import { readScript } from './script-files.ts';
import { selectFinalist } from './selection.ts';
import { Study } from './study.ts';
import { type MeasuredTrial, type TrialOutcome, TrialRunner, told } from './trial.ts';

/**
 * Tunes the numbers in the starter script by the script's own validation metric, and writes models of its own;
 * docs/agents/automl.md explains how.
 */
export const automl: Agent = {
  name: 'automl',
  summary:
    "Tunes the numbers in the starter script by the script's own validation metric; writes a missing model.",
  needs: { model: false, reference: false },
  options: {
    max_tries: { description: 'changes to try at most', default: 1000 },
    search: {
      description: 'climb: one number at a time, then several; as a baseline: random, all at once',
      default: 'climb',
    },
    numbers: {
      description: 'tune the numbers of the script',
      default: true,
    },
    rewrites: {
      description: 'rewrite the script where a library offers something better; not for the baseline',
      default: true,
    },
    models: {
      description: 'write models of its own; as rivals of a starter that works not for the baseline',
      default: true,
    },
    leave_out: {
      description:
        'names of rewrites, or their beginnings, that are not tried, separated by commas: for ablations',
      default: '',
    },
    select: {
      description: 'measure the best versions again on fresh seeds before one is submitted',
      default: true,
    },
  },
  ready(options) {
    readSettings(options);
  },
  async run({ environment, seed, options }) {
    const settings = readSettings(options);
    const workspace = new Workspace(environment);

    // With very few steps, each is needed for the run itself.
    const listing = workspace.budget.steps_left >= 6 ? (await workspace.listFiles('.')).observation : '';
    const file = await readScript(workspace, listing);
    // A script that cannot be read can still be run.
    const source = 'text' in file ? file.text : '';
    const runner = new TrialRunner(workspace, source);
    const starter = await runner.run(source);
    runner.attempts.add({
      ...{ source, from: null, operator: 'starter', change: 'the starter as it is', outcome: starter },
      ...{ isKept: starter.kind === 'measured', why: told(starter) },
    });
    if ('problem' in file) return await answerWithoutSearch(workspace, starter, file.problem);
    const useless = settings.models ? whyUseless(starter, workspace.submission) : null;
    const filling =
      useless === null || workspace.ended
        ? null
        : await replaceUseless(workspace, runner, { source, outcome: starter }, useless);
    if (filling?.kind === 'filled') return await improve(workspace, runner, filling, seed, settings);
    if (starter.kind === 'measured')
      return await improve(workspace, runner, { source, outcome: starter }, seed, settings);
    const why = filling === null ? starter.why : `${starter.why}, and ${filling.why}`;
    await answerWithoutSearch(workspace, starter, why);
  },
};

/**
 * Why a starter is of no use: nothing shows whether a change to it helps. One that was stopped at its time limit counts
 * only if it left no submission. Null for one that prints its metric. One that prints another metric can be improved by
 * that metric, but first a model is written for the task's own metric.
 */
function whyUseless(starter: TrialOutcome, submission: SubmissionSeen | null): string | null {
  if (starter.kind === 'measured') return starter.other === true ? 'it prints another metric' : null;
  return starter.timedOut && submission?.present === true ? null : starter.why;
}

/** Improves a script that was run. */
async function improve(
  workspace: Workspace,
  runner: TrialRunner,
  begun: Filled | { source: string; outcome: TrialOutcome },
  seed: number,
  settings: Settings,
): Promise<void> {
  const { source, outcome } = begun;
  let own = 'contract' in begun ? begun : null;
  const filled = own?.sentence;
  if (outcome.kind === 'failed') return await answerWithoutSearch(workspace, outcome, outcome.why, filled);
  const isOwn = own !== null;
  const { select: selects, numbers, rewrites, rivals, leftOut, maxTries } = settings;
  const study = new Study(workspace, runner, source, outcome, { isOwn, selects });
  let whyNoSearch = await study.start();
  if (whyNoSearch === null) {
    if (rivals && !isOwn) own = await writeModel(workspace, runner, study, outcome);
    if (own !== null && !isOwn && study.isFarAhead) {
      await rerunOwnModel(workspace, runner, study, own);
      own = null;
    }
    const trains = numbers && rewrites && !leftOut.includes('train longer') && maxTries > 0;
    if (trains && !study.best.isOwn) await trainLonger(workspace, study);
    if (rewrites && !isOwn) await rewriteScript(workspace, study, maxTries, leftOut);
    whyNoSearch = await searchNumbers(workspace, study, { ...settings, random: seededRandom(seed) });
  }
  const unchanged = whyNoSearch === null ? '' : `I change no number: ${whyNoSearch}`;
  if (whyNoSearch !== null) workspace.note({ Decision: unchanged });
  const selection = await selectFinalist(workspace, study);
  if (rivals && own !== null) await rerunOwnModel(workspace, runner, study, own);
  await answerWithBest(workspace, runner, study, [filled ?? '', unchanged, selection]);
}

/** Writes automl's model beside a working starter, and takes it if it measures better by more than the noise. */
async function writeModel(
  workspace: Workspace,
  runner: TrialRunner,
  study: Study,
  outcome: MeasuredTrial,
): Promise<Filled | null> {
  if (workspace.ended) return null;
  const working = { source: study.starter.source, outcome };
  return await adopt(study, await replaceModel(workspace, runner, working, noiseOf(study)));
}

/** Gives automl's own model the time that is left, if it is the best version and had too little. */
async function rerunOwnModel(
  workspace: Workspace,
  runner: TrialRunner,
  study: Study,
  own: Filled,
): Promise<void> {
  if (workspace.ended || study.best.source !== own.source) return;
  await adopt(study, await rerunModel(workspace, runner, own, noiseOf(study)));
}

/** The two are measured on different rows, so the effect of another split is noise here. */
function noiseOf({ noiseTest }: Study): number {
  return Math.max(noiseTest.noise ?? 0, noiseTest.threshold);
}

async function adopt(study: Study, filling: Filling | null): Promise<Filled | null> {
  if (filling?.kind !== 'filled' || filling.outcome.kind === 'failed') return null;
  await study.adopt(filling.source, filling.sentence, filling.outcome, filling.scores);
  return filling;
}

interface Settings extends Omit<NumberSearch, 'random'> {
  select: boolean;
  rewrites: boolean;
  /** Whether models are written at all, and beside a starter that works. */
  models: boolean;
  rivals: boolean;
  leftOut: readonly string[];
}

function readSettings(options: AgentOptions): Settings {
  const strategy = choiceOption(automl, options, 'search', strategyNames);
  // The baseline only varies the number search: it changes nothing else, but replaces a starter that is of no use.
  const isBaseline = strategy === 'random';
  const models = options.models !== false;
  const leftOut = String(options.leave_out ?? '').split(',');
  return {
    ...{ strategy, models, rivals: !isBaseline && models },
    maxTries: wholeNumberOption(automl, options, 'max_tries', 0),
    select: options.select !== false,
    numbers: options.numbers !== false,
    rewrites: !isBaseline && options.rewrites !== false,
    leftOut: leftOut.map((each) => each.trim()).filter((each) => each !== ''),
  };
}
