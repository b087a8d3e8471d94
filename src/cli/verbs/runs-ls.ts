import { basename, dirname, matchesGlob } from 'node:path';
import { unsureCaveat } from '../../grading/index.ts';
import { messageOf, UserError } from '../../lib/errors.ts';
import { type ReportRun, type RunPlace, RunState } from '../../schema/index.ts';
import {
  type Experiment,
  type Fleet,
  openExperiment,
  openFleet,
  placeOf,
  queuedPlace,
} from '../../store/index.ts';
import type { Context } from '../context.ts';
import { wholeNumber } from '../flag-numbers.ts';
import {
  experimentFolder,
  isPattern,
  locateRun,
  namedExperiments,
  notThere,
  patternOfNames,
} from '../locate.ts';
import { renamedTexts } from '../renamed-experiments.ts';
import { countsText } from '../run-states.ts';
import { duration, number, oneLine, percent, table } from '../table.ts';
import type { Verb } from '../verb.ts';

interface Options {
  status?: string[];
  sort?: SortKey;
  limit?: number;
}

/** What to sort by, largest first. */
const sortKeys = {
  score: ({ score }: ReportRun, sign: number) => (score === null ? null : sign * score),
  improvement: ({ improvement }: ReportRun) => improvement,
  time: ({ seconds }: ReportRun) => seconds,
  steps: ({ steps }: ReportRun) => steps,
} as const;
type SortKey = keyof typeof sortKeys;

/** A listed run; with figures of its work if it has begun. */
interface Listed extends RunPlace {
  run: string;
  work: ReportRun | null;
  /** -1 if lower scores are better, else 1. */
  sign: number;
}

export const runsLs: Verb = {
  onlyReads: true,
  arguments: [
    {
      name: '[runs...]',
      description: 'experiments, runs (EXPERIMENT/RUN), or patterns: start-*/digits-*; default: all',
    },
  ],
  flags: [
    {
      flags: '--status <states>',
      description: `only runs with these states: ${RunState.options.join(', ')}`,
      many: 'commas',
    },
    {
      flags: '--sort <by>',
      description: `sort by ${Object.keys(sortKeys).join(', ')}: the best, or the most, first`,
      choices: Object.keys(sortKeys),
    },
    { flags: '--limit <n>', description: 'list at most this many runs', parse: wholeNumber(1) },
  ],
  details:
    'The last column says where a run is running (host, process, GPUs), what it is waiting for, or why it failed. Use\n' +
    'mlab runs retry to rerun failed runs.',
  examples: [
    ['mlab runs ls', 'every run of every experiment'],
    ['mlab runs ls night-1 --status running,failed', 'what is running and what failed'],
    ["mlab runs ls 'start-*/digits-*' --sort score --limit 5", 'the five best runs on a task'],
    ['mlab runs ls start-1 --json', 'the runs of one experiment as JSON'],
  ],
  async run(context, names, { status, sort, limit }: Options) {
    const wanted = statesOf(status);
    const targets = names.map((name) => targetOf(context, name));
    const fleets = fleetsOf(context, targets);
    const runs: Listed[] = [];
    const found = new Set<Target>();
    for (const fleet of fleets) {
      const all = await listed(context, fleet);
      const matched = targets.map((target) => ({ target, runs: all.filter(means(fleet, target)) }));
      for (const { target, runs: some } of matched) if (some.length > 0) found.add(target);
      const meant = new Set(matched.flatMap(({ runs: some }) => some));
      runs.push(...all.filter((run) => targets.length === 0 || meant.has(run)));
    }
    const missed = targets.find((target) => !found.has(target));
    if (missed !== undefined) throw notThere(context, missed.given);
    const matching = runs.filter(({ state }) => wanted?.has(state) !== false);
    const sorted = sort === undefined ? matching : largestFirst(matching, sortKeys[sort]);
    const shown = sorted.slice(0, limit);
    const states = () => shown.map(({ run, state, where, why }) => ({ run, state, where, why }));
    const json = async () => ({ runs: await reportRuns(context, fleets, shown), states: states() });
    if (wanted !== null && runs.length > 0 && matching.length === 0)
      return { text: `No run is ${[...wanted].join(' or ')}.`, json };
    if (runs.length > 0) {
      const notes = [
        ...leftOut(matching, shown),
        ...renamedTexts(fleets),
        ...toGrade(context, fleets, matching),
      ];
      return { text: [tableOf(shown), countsText(matching), ...notes].join('\n\n'), json };
    }
    return {
      text: `No runs in ${context.folders.experiments} yet. Begin with: mlab run --suite starter${context.placeFlags}`,
      json,
    };
  },
};

/** The runs that an argument names: those of one experiment, or of several that match a pattern. */
interface Target {
  given: string;
  /** A folder, or a pattern of names. */
  experiment: string;
  run: string;
}

function targetOf(context: Context, name: string): Target {
  if (isPattern(name)) {
    const [experiment = '', run = '*'] = patternOfNames(context, name)
      .replace(/\/runs\//, '/')
      .split('/');
    return { given: name, experiment, run };
  }
  const whole = experimentFolder(context, name);
  if (whole !== null) return { given: name, experiment: whole, run: '*' };
  const { experiment, folder } = locateRun(context, name);
  return { given: name, experiment: experiment.folder, run: folder.id };
}

/** Whether a target names a run of this experiment. */
function means(fleet: Fleet, { given, experiment, run: wanted }: Target): (run: Listed) => boolean {
  const isHere = isPattern(given) ? matchesGlob(fleet.name, experiment) : experiment === fleet.folder;
  return ({ run }) => isHere && matchesGlob(basename(run), wanted);
}

/** Runs with unknown figures come last. */
function largestFirst(runs: readonly Listed[], figure: (typeof sortKeys)[SortKey]): Listed[] {
  const value = ({ work, sign }: Listed) =>
    (work === null ? null : figure(work, sign)) ?? Number.NEGATIVE_INFINITY;
  return runs.toSorted((one, other) => (value(one) === value(other) ? 0 : value(other) - value(one)));
}

function leftOut(matching: readonly Listed[], shown: readonly Listed[]): string[] {
  const left = matching.length - shown.length;
  return left === 0 ? [] : [`… and ${left} more: --limit lists more of them.`];
}

/** How to grade runs that ended without the grades that their plan asks for. */
function toGrade(
  { command, placeFlags }: Context,
  fleets: readonly Fleet[],
  runs: readonly Listed[],
): string[] {
  const graded = fleets.filter(({ begun }) => begun !== null && begun.plan.grade !== 'none');
  const without = new Set(runs.filter(isUngraded).map(({ run }) => dirname(run)));
  const names = graded.map(({ name }) => name).filter((name) => without.has(name));
  const commands = names.map((name) => `${command} grade ${name}${placeFlags}`);
  return commands.length === 0 ? [] : [`To grade the runs that are not graded: ${commands.join('; ')}`];
}

function isUngraded({ work, state }: Listed): boolean {
  return state === 'finished' && withoutScore(work) === notGraded;
}

function statesOf(given: readonly string[] | undefined): ReadonlySet<RunState> | null {
  if (given === undefined) return null;
  const known = given.map((word) => {
    const state = RunState.options.find((each) => each === word);
    if (state !== undefined) return state;
    throw new UserError(
      'bad_flag',
      `--status ${word}: not a valid state.`,
      `Use ${RunState.options.join(', ')}.`,
    );
  });
  return new Set(known);
}

function fleetsOf(context: Context, targets: readonly Target[]): Fleet[] {
  const folders = targets.filter(({ given }) => !isPattern(given)).map(({ experiment }) => experiment);
  const named = [...new Set(folders)];
  if (targets.length > 0 && folders.length === targets.length) return named.map(openFleet);
  const patterns = targets.filter(({ given }) => isPattern(given)).map(({ experiment }) => experiment);
  const isMeant = (name: string) => targets.length === 0 || patterns.some((each) => matchesGlob(name, each));
  const matching = namedExperiments(context).filter(
    ({ name, folder }) => isMeant(name) && !named.includes(folder),
  );
  const fleets = matching.flatMap(({ name, folder }) => {
    try {
      return [openFleet(folder)];
    } catch (error) {
      context.log(`${name} is left out: ${messageOf(error)}`);
      return [];
    }
  });
  return [...named.map(openFleet), ...fleets];
}

/** Runs that have begun come first, in the order of reports. */
async function listed(context: Context, fleet: Fleet): Promise<Listed[]> {
  const { begun } = fleet;
  const reasons = await reasonsToWait(context, fleet);
  const queued = fleet.queued.map((id) => {
    const place = queuedPlace(id, fleet);
    const why = place.why === '' ? (reasons.get(id) ?? '') : place.why;
    return { ...{ run: `${fleet.name}/${id}`, work: null, sign: 1 }, ...place, why };
  });
  if (begun === null) return queued;
  const { works, lowerIsBetter, unreadable } = await evaluated(context, [begun]);
  const newer = await newerOf(begun, unreadable);
  const known = works.map((work) => ({
    run: `${work.experiment}/${work.run}`,
    work,
    sign: lowerIsBetter.has(work.run) ? -1 : 1,
    ...placeOf(begun.runFolder(work.run), fleet),
  }));
  const broken = unreadable.map((run) => ({
    run,
    work: null,
    sign: 1,
    state: 'failed' as const,
    where: '',
    why: newer.has(run) ? 'a newer mlab wrote it' : 'its files cannot be read',
  }));
  return [...known, ...broken, ...queued];
}

/** Of runs that can't be read, those that a newer mlab wrote. Loaded only if there are any. */
async function newerOf(experiment: Experiment, unreadable: readonly string[]): Promise<Set<string>> {
  if (unreadable.length === 0) return new Set();
  const { newerRuns } = await import('../newer-runs.ts');
  return new Set(newerRuns([experiment], unreadable));
}

/** What its scheduler says of runs that wait; only Slurm tells. */
async function reasonsToWait({ variables }: Context, { executor, queued, folder }: Fleet) {
  if (executor !== 'slurm' || queued.length === 0) return new Map<string, string>();
  const { waitingJobs } = await import('../../runs/index.ts');
  return await waitingJobs(folder, variables);
}

/** The runs as reports count them, including those that have not begun, in the order in which they are shown. */
async function reportRuns(
  context: Context,
  fleets: readonly Fleet[],
  shown: readonly Listed[],
): Promise<ReportRun[]> {
  const experiments = fleets.map(({ folder }) => openExperiment(folder));
  const { works } = await evaluated(context, experiments);
  const known = new Map(works.map((work) => [`${work.experiment}/${work.run}`, work]));
  return shown.flatMap(({ run }) => known.get(run) ?? []);
}

/** Loaded only if a run has begun: queued runs need none of it. */
async function evaluated(
  context: Context,
  experiments: readonly Experiment[],
): Promise<{ works: ReportRun[]; lowerIsBetter: ReadonlySet<string>; unreadable: string[] }> {
  const { evaluationsOf } = await import('../../evaluation/index.ts');
  const { buildRuns } = await import('../../statistics/index.ts');
  const place = { ...context, allCores: true, withBranches: true };
  const { evaluations, unreadable } = await evaluationsOf(place, experiments);
  const minimized = evaluations.filter(({ scoring_reference: by }) => by?.direction === 'minimize');
  const lowerIsBetter = new Set(minimized.map(({ run }) => run));
  return { works: buildRuns(evaluations), lowerIsBetter, unreadable };
}

/** A terminal cuts the last column to its width. */
const mostWhy = 200;

/** Left out for a run that failed, since the reason says more. */
function endOf(work: ReportRun | null, why: string): string {
  const reason = work?.end?.reason ?? '';
  return reason === 'infrastructure_error' && why !== '' ? '' : reason;
}

/** Why a run that ended has no score; empty if it has one, or its end says why. */
function withoutScore(work: ReportRun | null): string {
  if (work === null || work.end === null) return '';
  if (work.outcome === 'invalid') {
    const [mayBe] = unsureCaveat.split(':');
    return work.caveats.includes(unsureCaveat) ? `no valid submission; ${mayBe}` : 'no valid submission';
  }
  return work.outcome === 'unfinished' ? notGraded : '';
}

const notGraded = 'not graded';

function tableOf(runs: readonly Listed[]): string {
  const right = 'right' as const;
  const columns = [
    { title: 'run' },
    { title: 'status' },
    { title: 'steps', align: right },
    { title: 'time', align: right },
    { title: 'score', align: right },
    { title: 'improvement', align: right },
    { title: 'end' },
  ];
  const rows = runs.map(({ run, state, where, why, work }) => [
    run,
    state,
    ...(work === null || state === 'queued'
      ? ['', '', '', '']
      : [String(work.steps), duration(work.seconds), number(work.score), percent(work.improvement, true)]),
    [endOf(work, why), withoutScore(work), where, oneLine(why, mostWhy)]
      .filter((part) => part !== '')
      .join(' · '),
  ]);
  return table(columns, rows);
}
