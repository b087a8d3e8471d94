import { join, relative } from 'node:path';
import type { V1Job } from '@kubernetes/client-node';
import { cacheFolder } from '../../../lib/cache-folder.ts';
import { UserError } from '../../../lib/errors.ts';
import { sha256 } from '../../../lib/hash.ts';
import { shellWord } from '../../../lib/shell-word.ts';
import type { Job, KubernetesSettings } from '../../../schema/index.ts';
import { gradeResources, runResources } from '../../jobs/make-jobs.ts';
import type { JobArray } from '../arrays/array-scheduler.ts';
import type { ExecutorPlace, PlannedPlace } from '../executor-kind.ts';

/** All jobs of an experiment have it, with the experiment's name. */
export const experimentLabel = 'mlagentbench/experiment';
/** The memory for mlab and the agent's processes, in addition to the agent's limit. */
const harnessMemoryMb = 512;
/** The time for the current step and its snapshot after a pod is asked to end. */
const graceSeconds = 120;

/** A label has at most 63 characters, and ends with a letter or a digit. */
export function labelOf(experiment: string): string {
  if (/^[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?$/.test(experiment)) return experiment;
  return `${experiment.slice(0, 40).replace(/[^A-Za-z0-9]+$/, '')}-${sha256(experiment).slice(0, 12)}`;
}

/** The part of a job that its manifest needs. */
export type PodNeeds = { resources: Pick<Job['resources'], 'cores' | 'memory_mb' | 'gpu' | 'gpus'> };

/** The resources that a job requests from a node. */
export function resourcesOf({ resources }: PodNeeds, settings: KubernetesSettings) {
  const memory = `${settings.memory_mb ?? resources.memory_mb + harnessMemoryMb}Mi`;
  const gpus = resources.gpu ? { [settings.gpu_resource]: String(resources.gpus ?? 1) } : {};
  return {
    requests: { cpu: String(resources.cores), memory, ...gpus },
    limits: { memory, ...gpus },
  };
}

/**
 * An Indexed Job: one pod for each job of an array, which executes `mlab worker` with the document of its index. A pod
 * that is evicted or preempted is created again and costs no retry; its run resumes after its last step.
 */
export function jobManifest(
  {
    name,
    folder,
    jobs,
    parallel,
  }: Pick<JobArray, 'name' | 'folder' | 'parallel'> & { jobs: readonly PodNeeds[] },
  experiment: string,
  settings: KubernetesSettings,
  { command, variables }: Pick<ExecutorPlace, 'command' | 'variables'>,
): V1Job {
  const taskFolders = taskFoldersOf(command);
  refuseUnmounted([folder, ...taskFolders], settings);
  const cache = cacheFolder(variables);
  const [first] = jobs;
  if (first === undefined) throw new Error('no job to submit');
  const labels = { 'app.kubernetes.io/managed-by': 'mlagentbench', [experimentLabel]: labelOf(experiment) };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace: settings.namespace, labels },
    spec: {
      completionMode: 'Indexed',
      completions: jobs.length,
      parallelism: Math.min(parallel ?? jobs.length, jobs.length),
      backoffLimitPerIndex: settings.retries,
      maxFailedIndexes: jobs.length,
      podFailurePolicy: {
        rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }],
      },
      ttlSecondsAfterFinished: settings.keep_seconds,
      template: {
        metadata: { labels },
        spec: {
          restartPolicy: 'Never',
          terminationGracePeriodSeconds: graceSeconds,
          ...(settings.service_account === undefined ? {} : { serviceAccountName: settings.service_account }),
          ...(settings.node_selector === undefined ? {} : { nodeSelector: settings.node_selector }),
          ...(settings.tolerations === undefined ? {} : { tolerations: settings.tolerations }),
          containers: [
            {
              name: 'mlab',
              image: settings.image,
              command: ['/bin/sh', '-c', workerScript(folder, commandOf(settings, taskFolders))],
              // Without a cache, each pod creates environments and data again.
              ...(isMounted(cache, settings) ? { env: [{ name: 'MLAB_CACHE', value: cache }] } : {}),
              resources: resourcesOf(first, settings),
              // Names only: the keys themselves are in the cluster.
              ...(settings.secrets.length === 0
                ? {}
                : { envFrom: settings.secrets.map((secret) => ({ secretRef: { name: secret } })) }),
              volumeMounts: settings.volumes.map(({ path }, index) => ({
                name: `volume-${index}`,
                mountPath: path,
              })),
              ...(settings.privileged ? { securityContext: { privileged: true } } : {}),
            },
          ],
          volumes: settings.volumes.map(({ claim }, index) => ({
            name: `volume-${index}`,
            persistentVolumeClaim: { claimName: claim },
          })),
        },
      },
    },
  };
}

function commandOf({ command }: KubernetesSettings, taskFolders: readonly string[]): string {
  return [command, ...taskFolders.flatMap((folder) => ['--task-dir', shellWord(folder)])].join(' ');
}

/** The folders of `--task-dir`, which every command of the experiment gets. */
function taskFoldersOf(command: readonly string[]): string[] {
  return command.filter((_, index) => command[index - 1] === '--task-dir');
}

/** Pods see files of the experiment and of tasks only on volumes, at the same path as here. */
function refuseUnmounted(folders: readonly string[], settings: KubernetesSettings): void {
  const folder = folders.find((each) => !isMounted(each, settings));
  if (folder === undefined) return;
  const paths = settings.volumes.map(({ path }) => path).join(', ');
  throw new UserError(
    'not_mounted',
    `Pods can't see ${folder}: they have ${paths === '' ? 'no volume' : paths}.`,
    'Use folders on a volume (--dir, --task-dir), or add the claim of its volume to executor.kubernetes.volumes, with the same path here and in pods.',
  );
}

function isMounted(folder: string, { volumes }: KubernetesSettings): boolean {
  return volumes.some(({ path }) => !relative(path, folder).startsWith('..'));
}

/**
 * The worker's output is its result once it has finished; a pod that is stopped leaves no result, and is created again.
 */
function workerScript(folder: string, command: string): string {
  return `index=$JOB_COMPLETION_INDEX
folder=${shellWord(folder)}
result=$folder/results/$index.json
rm -f "$result"
exec 2>> "$folder/logs/$index.log"
echo "mlab: $(date -u +%FT%TZ) in pod $(hostname)" >&2
trap 'kill -TERM "$worker" 2>/dev/null' TERM
${command} worker ${shellWord(join(folder, 'jobs'))}/"$index".json --json > "$result.part" &
worker=$!
wait "$worker"; code=$?
while kill -0 "$worker" 2>/dev/null; do wait "$worker"; code=$?; done
[ "$code" -ge 128 ] && exit "$code"
mv "$result.part" "$result"
exit 0
`;
}

/**
 * One manifest for the runs of a plan with equal requests, then those of their gradings, which are submitted when the
 * runs have ended. The documents of their jobs are written when the plan is executed.
 */
export function plannedManifests(
  { plan, tasks, folder, parallel, ...place }: PlannedPlace,
  settings: KubernetesSettings,
): V1Job[] {
  const needs = { plan, tasks, threads: settings.cores };
  const alike = (resources: Job['resources'][]) => [
    ...Map.groupBy(
      resources.map((each): PodNeeds => ({ resources: each })),
      (each) => JSON.stringify(resourcesOf(each, settings)),
    ).values(),
  ];
  const runs = alike(plan.runs.map((run) => runResources(run, needs)));
  const gradings = plan.grade === 'none' ? [] : alike(plan.runs.map((run) => gradeResources(run, needs)));
  return [...runs, ...gradings].map((jobs, index) => {
    const name = `mlab-${sha256(`${folder} ${index}`).slice(0, 12)}`;
    const array = { name, folder: join(folder, 'kubernetes', name), jobs, parallel };
    return jobManifest(array, plan.name, settings, place);
  });
}
