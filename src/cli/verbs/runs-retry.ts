import { messageOf, UserError } from '../../lib/errors.ts';
import { anyAgentOfRun, failureCauses, type RemoteExecutor, type TaskResources } from '../../runs/index.ts';
import { sandboxOptions, trySandbox } from '../../sandbox/index.ts';
import type { ExperimentFile, Plan, RunSpec } from '../../schema/index.ts';
import { type Experiment, listExperiments, openExperiment, queueOf } from '../../store/index.ts';
import { loadTask, sampleCaveat } from '../../tasks/index.ts';
import { agentPlace } from '../agent-options.ts';
import { type Context, exitCodes, type VerbResult } from '../context.ts';
import { conclude, executePlan, getPrograms } from '../execute-plan.ts';
import { executeThere, isHere, tryPlace } from '../execute-there.ts';
import { readExperiment } from '../experiment-flags.ts';
import { wholeNumber } from '../flag-numbers.ts';
import { gpusFor } from '../gpus-of-run.ts';
import { locateRuns, runsArgument } from '../locate.ts';
import { registryOf } from '../model-registry.ts';
import { counted } from '../table.ts';
import { prepareFlags, provision, provisioningOf, type ResourceFlags } from '../task-resources.ts';
import { refuseAddresses, refuseHostFiles, refuseUnconfined, type TrustFlags, trustFlag } from '../trust.ts';
import type { Flag, Verb } from '../verb.ts';

interface Options extends ResourceFlags, TrustFlags {
  failed: string;
  on?: string;
  parallel?: number;
  settings?: string;
  dryRun?: boolean;
}

const everything = 'infrastructure';
const causes = [...failureCauses, 'unknown'];
/** The cause of failure of runs that `mlab run` continues once there is more to spend. */
const spent = 'experiment_limit';

const flags: Flag[] = [
  {
    flags: '--failed [what]',
    description: 'infrastructure for all such failures, or one cause (listed below)',
    choices: [everything, ...causes],
    default: everything,
  },
  { flags: '--on <where>', description: 'where to execute them; default: where they were executed before' },
  {
    flags: '--parallel <n>',
    description: 'maximum runs at a time; default: as planned',
    parse: wholeNumber(1),
  },
  {
    flags: '--settings <file>',
    description: 'experiment file with the executor settings to use',
  },
  { flags: '--dry-run', description: 'list the runs, then exit' },
  trustFlag,
  ...prepareFlags,
];

export const runsRetry: Verb = {
  arguments: [runsArgument],
  flags,
  details:
    'Reruns only runs with an infrastructure failure, from the start, as they were planned. Earlier attempts are kept\n' +
    'in runs/.discarded. To continue runs after their last step, repeat mlab run. A run that ended by agent_error is a\n' +
    'result of its agent and is not repeated: correct the agent, and give mlab run another --name.\n' +
    `Causes: ${causes.slice(0, 8).join(', ')},\n${causes.slice(8).join(', ')}.`,
  negative: 'a run could not be finished or graded',
  examples: [
    ['mlab runs retry night-1 --failed infrastructure', 'all infrastructure failures'],
    ['mlab runs retry night-1 --failed sandbox --dry-run', 'list the runs whose sandbox failed'],
    ['mlab runs retry night-1 --on slurm --settings night.yaml', 'again, on the cluster'],
  ],
  async run(context, names, options: Options) {
    refuseSpent(options.failed);
    const wanted = settingsOf(options);
    const named = Map.groupBy(locateRuns(context, names), ({ experiment }) => experiment.folder);
    const found = [...named].map(([folder, runs]) =>
      failedRuns(context, openExperiment(folder), new Set(runs.map((run) => run.folder.id))),
    );
    const chosen = found.map(({ experiment, failed }) => ({
      experiment,
      runs: failed.flatMap(({ run, cause }) => (isWanted(cause, options.failed) ? [run] : [])),
    }));
    const ids = chosen.flatMap(({ experiment, runs }) => runs.map(({ id }) => nameOf(experiment, id)));
    const unreadable = found.flatMap((one) => one.unreadable);
    if (options.dryRun === true || ids.length === 0)
      return listed(ids, options.failed, causesOf(found), unreadable);
    const results: VerbResult[] = [];
    for (const { experiment, runs } of chosen) {
      if (runs.length > 0) results.push(await retry(context, experiment, runs, wanted, options));
      if (context.signal.aborted) break;
    }
    const worst = results.map(({ exitCode }) => exitCode ?? exitCodes.ok);
    return {
      text: results.map(({ text }) => text).join('\n\n'),
      json: { retried: ids, unreadable, experiments: results.map(({ json }) => json) },
      exitCode: worst.find((code) => code !== exitCodes.ok) ?? exitCodes.ok,
    };
  },
};

function settingsOf({ settings, on, parallel }: Options): ExperimentFile {
  return readExperiment(settings, { on, parallel });
}

interface Failures {
  experiment: Experiment;
  failed: { run: RunSpec; cause: string }[];
  /** Names of runs that can't be read. */
  unreadable: string[];
}

/**
 * The named runs that ended with an infrastructure failure, or whose jobs failed before they began. A run that can't be
 * read does not hide others.
 */
function failedRuns(context: Context, experiment: Experiment, named: ReadonlySet<string>): Failures {
  const found: Failures = { experiment, failed: [], unreadable: [] };
  const { unqueued } = queueOf(experiment.folder);
  for (const run of experiment.plan.runs.filter(({ id }) => named.has(id))) {
    try {
      const record = experiment.runFolder(run.id).readRecord();
      if (record?.status === 'failed' && record.end?.reason === 'infrastructure_error')
        found.failed.push({ run, cause: record.end.cause ?? 'unknown' });
      else if (record === null && unqueued.get(run.id)?.state === 'failed')
        found.failed.push({ run, cause: 'unknown' });
    } catch (error) {
      const name = nameOf(experiment, run.id);
      found.unreadable.push(name);
      context.log(`${name} is left out: ${messageOf(error)}`);
    }
  }
  return found;
}

/** Runs that the experiment's own limit ended would end in the same way, and lose what they had done. */
function isWanted(cause: string, wanted: string): boolean {
  return wanted === everything ? cause !== spent : cause === wanted;
}

function refuseSpent(failed: string): void {
  if (failed !== spent) return;
  throw new UserError(
    'bad_flag',
    'Runs that ended at the limit of their experiment are not repeated from the start.',
    'Give the mlab run command of the experiment again with a larger --experiment-money or --experiment-tokens: they continue.',
  );
}

function nameOf({ name }: Experiment, run: string): string {
  return `${name}/${run}`;
}

/** How many runs failed for each cause, the most frequent first. */
function causesOf(found: readonly Failures[]): Record<string, number> {
  const byCause = Map.groupBy(
    found.flatMap(({ failed }) => failed),
    ({ cause }) => cause,
  );
  const counts = [...byCause].map(([cause, runs]) => [cause, runs.length] as const);
  return Object.fromEntries(counts.sort(([, one], [, other]) => other - one));
}

const startsOver =
  'Retried runs start over; their earlier attempts move to runs/.discarded. mlab run instead continues each after its last step.';

function listed(
  ids: readonly string[],
  failed: string,
  causes: Readonly<Record<string, number>>,
  unreadable: readonly string[],
): VerbResult {
  const known = Object.entries(causes).map(([cause, count]) => `${cause} (${count})`);
  const there = known.length === 0 ? '' : ` Causes here: ${known.join(', ')}.`;
  const text =
    ids.length === 0
      ? `No run failed with this cause (${failed}).${there} mlab runs ls --status failed lists failed runs; mlab grade EXPERIMENT grades those that could not be graded.`
      : `${counted(ids.length, 'run')} to rerun:\n${ids.map((id) => `  ${id}`).join('\n')}\n${startsOver}`;
  return { text, json: { retried: [], runs: ids, causes, unreadable } };
}

async function retry(
  context: Context,
  experiment: Experiment,
  runs: readonly RunSpec[],
  wanted: ExperimentFile,
  options: ResourceFlags & TrustFlags,
): Promise<VerbResult> {
  const { plan } = experiment;
  for (const run of runs) {
    refuseUnconfined(run, options);
    refuseHostFiles(run, `The plan of ${run.id}`, options);
  }
  if (runs.some(({ roles }) => roles !== undefined)) refuseAddresses(plan.providers, options);
  const again: Plan = { ...plan, runs: [...runs], parallel: wanted.parallel ?? plan.parallel };
  const agentOf = (run: RunSpec) => anyAgentOfRun(run, agentPlace(context, run, options.interpreter));
  const registry = registryOf(context, again);
  await getPrograms(context, again, registry, agentOf);
  const here = isHere(context, again, wanted, undefined);
  const { MLAB_DOCKER } = context.variables;
  const sandboxes = new Map(runs.map((run) => [`${run.sandbox} ${run.docker_image ?? ''}`, run]));
  if (!here) await tryPlace(context, again, wanted);
  for (const run of here ? sandboxes.values() : [])
    await trySandbox(run.sandbox, sandboxOptions(run, MLAB_DOCKER));
  context.log(startsOver);
  const resources = new Map<string, TaskResources>();
  for (const { task, caveats } of runs) {
    if (resources.has(task)) continue;
    const sample = options.sample === true || caveats.includes(sampleCaveat);
    resources.set(
      task,
      await provision(context, loadTask(task, context.folders.tasks), { ...options, sample }),
    );
  }
  const parts = {
    ...(await gpusFor(context, runs)),
    ...{ experiment, resources, incomplete: 'restart' as const, registry, agentOf },
    parentExperiment: parentOf(context, experiment, runs),
    provisioning: provisioningOf(options),
    modelsFolder: process.cwd(),
  };
  const execute = (executor: RemoteExecutor | undefined, signal: AbortSignal) =>
    executePlan({ ...context, signal }, again, { ...parts, executor }, undefined);
  return await conclude(
    context,
    experiment,
    await executeThere(context, wanted, experiment, registry, execute),
  );
}

/** The path of the experiment that a fork began from; undefined if that is this experiment. */
function parentOf({ folders }: Context, { plan }: Experiment, runs: readonly RunSpec[]): string | undefined {
  const parent = runs.find(({ parent: from }) => from !== undefined && from.experiment !== plan.name)?.parent;
  if (parent === undefined) return undefined;
  const found = listExperiments(folders.experiments).find(({ name }) => name === parent.experiment);
  if (found !== undefined) return openExperiment(found.folder).folder;
  throw new UserError(
    'no_experiment',
    `The run ${parent.experiment}/${parent.run}, from which runs were forked, no longer exists.`,
    'Restore its experiment, or name its folder with --dir.',
  );
}
