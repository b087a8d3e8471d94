import {
  type Cancellation,
  cancelJobs,
  cancellationText,
  chooseExecutor,
  type ExecutorPlace,
} from '../../runs/index.ts';
import { type Experiment, openFleet } from '../../store/index.ts';
import { type Context, type ExitCode, exitCodes } from '../context.ts';
import { commandElsewhere } from '../execute-there.ts';
import { readExperiment } from '../experiment-flags.ts';
import { locateRuns, runsArgument } from '../locate.ts';
import { reportOutage } from '../log-events.ts';
import { refuseRecordedPlace } from '../trust.ts';
import type { Verb } from '../verb.ts';

interface Options {
  on?: string;
  settings?: string;
}

/** What was done about one experiment. */
interface Cancelled extends Cancellation {
  experiment: string;
  on: string;
  text: string;
}

export const runsCancel: Verb = {
  arguments: [runsArgument],
  flags: [
    { flags: '--on <where>', description: 'where their jobs are; default: where they were submitted last' },
    {
      flags: '--settings <file>',
      description: 'experiment file with the executor settings to use: Kubernetes needs them',
    },
  ],
  details:
    'Removes the queued jobs of experiments from Redis, Slurm or Kubernetes, and stops the running ones after what they have\n' +
    'recorded. Commands that follow the jobs end, or continue with the rest if only some runs of an experiment are cancelled,\n' +
    'which Kubernetes cannot do. What is finished is kept, and the same mlab run command submits the rest again. Runs that\n' +
    'mlab run executes on this machine are not cancelled; the output names the process to interrupt.',
  negative: 'jobs could not be cancelled, or have not ended yet',
  examples: [
    ['mlab runs cancel night-1', 'all its jobs, wherever they are'],
    ['mlab runs cancel night-1/digits-automl-0', 'the jobs of one run; the others continue'],
    ['mlab runs cancel night-1 --settings night.yaml', 'jobs on Kubernetes, with the settings of that file'],
    ["mlab runs cancel 'night-*' --json", 'several experiments, with the result as JSON'],
  ],
  async run(context, given, { on, settings }: Options) {
    const { executor } = readExperiment(settings, {});
    const { variables, log, signal } = context;
    const place = {
      ...{ settings: executor, parallel: undefined, command: commandElsewhere(context), models: undefined },
      ...{ variables, log, signal, onOutage: reportOutage(context) },
    };
    const all: Cancelled[] = [];
    const located = Map.groupBy(locateRuns(context, given), (run) => run.experiment.folder);
    for (const [first, ...more] of located.values()) {
      if (first === undefined) continue;
      const { experiment } = first;
      const named = new Set([first, ...more].map(({ folder }) => folder.id));
      const runs = experiment.runIds.every((id) => named.has(id)) ? undefined : named;
      all.push(await cancel(context, on, { ...place, experiment }, runs));
    }
    return {
      text: all.map(({ experiment, text }) => `${experiment}: ${text}`).join('\n'),
      json: { experiments: all },
      exitCode: exitCodeOf(all),
    };
  },
};

async function cancel(
  { variables }: Context,
  on: string | undefined,
  place: ExecutorPlace,
  runs: ReadonlySet<string> | undefined,
): Promise<Cancelled> {
  const { experiment } = place;
  const { name } = experiment;
  if (on === undefined) refuseRecordedPlace(experiment.executor, variables);
  const kind = chooseExecutor(on, experiment.executor);
  const cancellation = kind === null ? localRuns(experiment, runs) : await cancelJobs(kind, on, place, runs);
  return {
    experiment: name,
    on: kind?.name ?? 'local',
    ...cancellation,
    text: cancellationText(cancellation),
  };
}

/** Runs that a process executes itself end with that process. */
function localRuns({ folder }: Experiment, runs: ReadonlySet<string> | undefined): Cancellation {
  const { begun } = openFleet(folder);
  const meant = (begun?.runIds ?? []).filter((id) => runs?.has(id) !== false);
  const holders = meant.flatMap((id) => begun?.runFolder(id).holder() ?? []);
  const processes = new Set(holders.map(({ pid, host }) => `process ${pid} on ${host}`));
  if (processes.size === 0) return { jobs: 0, ending: 0, problem: null };
  const what = holders.length === 1 ? '1 run is' : `${holders.length} runs are`;
  const problem = `${what} executed by ${[...processes].join(', ')}: press Ctrl-C at its terminal, or send it SIGINT there (kill -INT PID).`;
  return { jobs: holders.length, ending: 0, problem };
}

function exitCodeOf(all: readonly Cancelled[]): ExitCode {
  const isDone = all.every(({ ending, problem }) => ending === 0 && problem === null);
  return isDone ? exitCodes.ok : exitCodes.negative;
}
