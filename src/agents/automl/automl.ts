import type { AgentOptions } from '../../schema/index.ts';
import type { Agent } from '../agent.ts';
import { choiceOption, wholeNumberOption } from '../common/options.ts';
import { seededRandom } from '../common/seeded-random.ts';
import { type TrialOutcome, toldOf } from '../search/trial-outcome.ts';
import { replaceModel, replaceUseless } from './model-writing/fill.ts';
import { type NumberSearch, searchNames, searchNumbers, trainLonger } from './number-search.ts';
import { rewriteScript } from './rewriting.ts';
import { readScript } from './script-files.ts';
import { selectFinalist } from './selection.ts';
import { Study } from './study.ts';
import { isOwn, isVersion, Trials, type Version } from './trial.ts';

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
    const trials = new Trials(environment);
    const { workspace } = trials;

    // With very few steps, each is needed for the run itself.
    const listing = workspace.budget.steps_left >= 6 ? (await workspace.listFiles('.')).observation : '';
    const file = await readScript(workspace, listing);
    // A script that cannot be read can still be run.
    const { starter, outcome } = await trials.runStarter('text' in file ? file.text : '');
    if ('problem' in file) return await answerWithoutSearch(trials, file.problem);
    const isThere = workspace.submission?.present === true;
    const useless = settings.models ? whyUseless(outcome, isThere) : null;
    const silentFor = outcome.kind === 'failed' && outcome.silent && isThere ? outcome.seconds : undefined;
    const filling =
      useless === null || workspace.ended ? null : await replaceUseless(trials, starter, useless, silentFor);
    const begun = filling?.kind === 'filled' ? filling.attempt : starter;
    if (isVersion(begun)) return await improve(trials, begun, seed, settings);
    const also = filling?.kind === 'not filled' ? `, and ${filling.why}` : '';
    await answerWithoutSearch(trials, `${begun.why}${also}`);
  },
};

/** Submits what is there, and says why nothing was tuned. */
async function answerWithoutSearch(trials: Trials, why: string): Promise<void> {
  trials.workspace.note({ Decision: `I cannot tune this script: ${why}. I submit what it left.` });
  await trials.answer([`I tuned nothing, because ${why}.`]);
}

/**
 * Why a starter is of no use: nothing shows whether a change to it helps. One that was stopped at its time limit counts
 * only if it left no submission. Null for one that prints its metric. One that prints another metric can be improved by
 * that metric, but first a model is written for the task's own metric.
 */
function whyUseless(starter: TrialOutcome, hasSubmission: boolean): string | null {
  if (starter.kind === 'measured') return starter.other ? 'it prints another metric' : null;
  return starter.timedOut && hasSubmission ? null : toldOf(starter);
}

/** Improves a script that was run. */
async function improve(trials: Trials, begun: Version, seed: number, settings: Settings): Promise<void> {
  const { workspace } = trials;
  const { select, numbers, rewrites, rivals, leftOut, maxTries } = settings;
  const study = new Study(trials, begun, select);
  let whyNoSearch = await study.start();
  if (whyNoSearch === null) {
    if (rivals && !isOwn(begun) && !workspace.ended) {
      const { noise, threshold } = study.noiseTest;
      // The two are measured on different rows, so the effect of another split is noise here.
      const filling = await replaceModel(trials, begun, Math.max(noise ?? 0, threshold));
      if (filling.kind === 'filled') study.adopt(filling.scores);
    }
    const trains = numbers && rewrites && !leftOut.includes('train longer') && maxTries > 0;
    if (trains && !isOwn(study.best)) await trainLonger(study);
    if (rewrites && !isOwn(begun)) await rewriteScript(study, maxTries, leftOut);
    whyNoSearch = await searchNumbers(study, settings, seededRandom(seed));
  }
  const unchanged = whyNoSearch === null ? '' : `I change no number: ${whyNoSearch}`;
  if (unchanged !== '') workspace.note({ Decision: unchanged });
  const selection = await selectFinalist(study);
  await trials.answer([unchanged, selection]);
}

interface Settings extends NumberSearch {
  select: boolean;
  rewrites: boolean;
  /** Whether models are written at all, and beside a starter that works. */
  models: boolean;
  rivals: boolean;
  leftOut: readonly string[];
}

function readSettings(options: AgentOptions): Settings {
  const search = choiceOption(automl, options, 'search', searchNames);
  // The baseline only varies the number search: it changes nothing else, but replaces a starter that is of no use.
  const isBaseline = search === 'random';
  const models = options.models !== false;
  const leftOut = String(options.leave_out ?? '').split(',');
  return {
    ...{ search, models, rivals: !isBaseline && models },
    maxTries: wholeNumberOption(automl, options, 'max_tries', 0),
    select: options.select !== false,
    numbers: options.numbers !== false,
    rewrites: !isBaseline && options.rewrites !== false,
    leftOut: leftOut.map((each) => each.trim()).filter((each) => each !== ''),
  };
}
