import { messageOf, UserError } from '../../lib/errors.ts';
import type { ReportRun } from '../../schema/index.ts';
import {
  type Experiment,
  type Fleet,
  listExperiments,
  openExperiment,
  openFleet,
} from '../../store/index.ts';
import type { Context } from '../context.ts';
import { locateExperimentFolder } from '../locate.ts';
import { countsText, placeOf, queuedPlace, type RunPlace, type RunState, runStates } from '../run-states.ts';
import { duration, number, percent, table } from '../table.ts';
import type { Verb } from '../verb.ts';

interface Options {
  status?: string[];
}

/** One run as it is listed; what is known of its work, where it has begun. */
interface Listed extends RunPlace {
  run: string;
  work: ReportRun | null;
}

export const runsLs: Verb = {
  onlyReads: true,
  arguments: [{ name: '[experiments...]', description: 'names of experiments; default: all' }],
  flags: [
    {
      flags: '--status <states>',
      description: `only runs in these states: ${runStates.join(', ')}`,
      many: 'commas',
    },
  ],
  details:
    'A run is queued until somebody begins it. Of one that is running it says where: host, process, GPUs; of one that waits,\n' +
    'for what; of one that failed, why: mlab runs retry does such runs again.',
  examples: [
    ['mlab runs ls', 'every run of every experiment'],
    ['mlab runs ls night-1 --status running,failed', 'who is at work, and what went wrong'],
    ['mlab runs ls start-1 --json', 'the runs of one, as data'],
  ],
  async run(context, names, { status }: Options) {
    const wanted = statesOf(status);
    const fleets = fleetsOf(context, names);
    const runs: Listed[] = [];
    for (const fleet of fleets) runs.push(...(await listed(context, fleet)));
    const shown = wanted === null ? runs : runs.filter(({ state }) => wanted.has(state));
    const states = () => shown.map(({ run, state, where, why }) => ({ run, state, where, why }));
    const json = async () => ({ runs: await reportRuns(context, fleets, shown), states: states() });
    if (runs.length > 0) return { text: `${tableOf(shown)}\n\n${countsText(shown)}`, json };
    return {
      text: `No runs in ${context.folders.experiments} yet. Begin with: mlab run --suite starter${context.placeFlags}`,
      json,
    };
  },
};

function statesOf(given: readonly string[] | undefined): ReadonlySet<RunState> | null {
  if (given === undefined) return null;
  const known = given.map((word) => {
    const state = runStates.find((each) => each === word);
    if (state !== undefined) return state;
    throw new UserError(
      'bad_flag',
      `--status ${word}: there is no such state.`,
      `Use ${runStates.join(', ')}.`,
    );
  });
  return new Set(known);
}

function fleetsOf(context: Context, names: readonly string[]): Fleet[] {
  if (names.length > 0) return names.map((name) => openFleet(locateExperimentFolder(context, name)));
  return listExperiments(context.folders.experiments).flatMap(({ name, folder }) => {
    try {
      return [openFleet(folder)];
    } catch (error) {
      context.log(`${name} is left out: ${messageOf(error)}`);
      return [];
    }
  });
}

/** Runs that have begun come first, as reports have them. */
async function listed(context: Context, fleet: Fleet): Promise<Listed[]> {
  const { begun } = fleet;
  const place = queuedPlace(fleet);
  const queued = fleet.queued.map((id) => ({ run: `${fleet.name}/${id}`, work: null, ...place }));
  if (begun === null) return queued;
  const { works, unreadable } = await evaluated(context, [begun]);
  const known = works.map((work) => ({
    run: `${work.experiment}/${work.run}`,
    work,
    ...placeOf(begun.runFolder(work.run), fleet),
  }));
  const broken = unreadable.map((run) => ({
    run,
    work: null,
    state: 'failed' as const,
    where: '',
    why: 'its files can not be read',
  }));
  return [...known, ...broken, ...queued];
}

/** As reports say them, those that have not begun as well. */
async function reportRuns(
  context: Context,
  fleets: readonly Fleet[],
  shown: readonly Listed[],
): Promise<ReportRun[]> {
  const experiments = fleets.map(({ folder }) => openExperiment(folder));
  const { works } = await evaluated(context, experiments);
  const names = new Set(shown.map(({ run }) => run));
  return works.filter(({ experiment, run }) => names.has(`${experiment}/${run}`));
}

/** Loaded where a run has begun: nothing of it is needed for those that wait. */
async function evaluated(
  context: Context,
  experiments: readonly Experiment[],
): Promise<{ works: ReportRun[]; unreadable: string[] }> {
  const { evaluationsOf } = await import('../../evaluation/index.ts');
  const { buildRuns } = await import('../../statistics/index.ts');
  const place = { ...context, allCores: true, withBranches: true };
  const { evaluations, unreadable } = await evaluationsOf(place, experiments);
  return { works: buildRuns(evaluations), unreadable };
}

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
    [work?.end?.reason ?? '', where, why].filter((part) => part !== '').join(' · '),
  ]);
  return table(columns, rows);
}
