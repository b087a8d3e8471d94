import { join } from 'node:path';
import { shellWord } from '../../../lib/shell-word.ts';
import type { Job, SlurmSettings } from '../../../schema/index.ts';

/** What all jobs of an array share. */
export interface ArrayOptions {
  name: string;
  folder: string;
  count: number;
  /** The most concurrent jobs. */
  parallel: number | undefined;
  /** The number of an array of which each job must have ended well before the job with the same index here begins. */
  after: string | undefined;
}

/** The memory for mlab and the agent's processes, in addition to the agent's limit. */
const harnessMemoryMb = 512;

/** Variables that mlab itself reads, or that a program needs to start; none of them is secret. */
const passedOn = [
  ...[
    'PATH',
    'HOME',
    'USER',
    'LOGNAME',
    'LANG',
    'LC_ALL',
    'XDG_CACHE_HOME',
    'MLAB_CACHE',
    'MLAB_DOCKER',
    'MLAB_LOG',
  ],
];

/** The part of a job that its request needs. */
export type BatchNeeds = {
  resources: Pick<Job['resources'], 'cores' | 'memory_mb' | 'gpu' | 'gpus' | 'exclusive'>;
};

/** What jobs must share to be one array. */
export function resourceOptions({ resources }: BatchNeeds, settings: SlurmSettings): string[] {
  const { gres = `gpu:${resources.gpus ?? 1}`, memory_mb: memory = resources.memory_mb + harnessMemoryMb } =
    settings;
  return [
    `--cpus-per-task=${resources.cores}`,
    `--mem=${memory}M`,
    ...(resources.gpu ? [`--gres=${gres}`] : []),
    ...(resources.exclusive ? ['--exclusive'] : []),
  ];
}

/** Arguments of sbatch. */
export function arrayOptions(
  { name, folder, count, parallel, after }: ArrayOptions,
  settings: SlurmSettings,
  variables: Readonly<Record<string, string | undefined>>,
): string[] {
  const { partition, account, qos, time, constraint } = settings;
  const names = [...passedOn, ...settings.export].filter((each) => variables[each] !== undefined);
  const given = Object.entries({ partition, account, qos, time, constraint });
  return [
    `--job-name=${name}`,
    `--array=0-${count - 1}${parallel === undefined ? '' : `%${parallel}`}`,
    `--output=${join(folder, 'logs', '%a.log').replaceAll(/%(?!a\.log$)/g, '%%')}`,
    ...['--open-mode=append', '--requeue', `--export=${names.join(',')}`, `--chdir=${folder}`],
    `--signal=B:USR1@${settings.signal_seconds}`,
    ...given.flatMap(([key, value]) => (value === undefined ? [] : [`--${key}=${value}`])),
    ...(after === undefined ? [] : [`--dependency=aftercorr:${after}`, '--kill-on-invalid-dep=yes']),
    ...settings.options,
  ];
}

/**
 * What Slurm starts for each job: `mlab worker` with the job of this index. Slurm sends USR1 before the time limit: the
 * run stops after its step, and the job goes back into the queue. TERM (scancel, preemption) stops it in the same way;
 * Slurm decides whether it is restarted. The worker's output is its result, and is complete once the worker has
 * finished.
 */
export function batchScript(
  folder: string,
  command: string,
  { preamble, requeues }: SlurmSettings,
  moreLines: string,
): string {
  return `#!/bin/bash
# Written by mlab: one job of an array. Its log is in logs/.
${preamble}
index=$SLURM_ARRAY_TASK_ID
folder=${shellWord(folder)}
result=$folder/results/$index.json
rm -f "$result"
${moreLines}echo "mlab: $(date -u +%FT%TZ) on $SLURMD_NODENAME, start \${SLURM_RESTART_COUNT:-0}"
asked=
stop() { asked=$1; kill -TERM "$worker" 2>/dev/null; }
trap 'stop USR1' USR1
trap 'stop TERM' TERM
${command} worker "$folder/jobs/$index.json" --json > "$result.part" &
worker=$!
wait "$worker"; code=$?
while kill -0 "$worker" 2>/dev/null; do wait "$worker"; code=$?; done
# A signal ends a wait early; the worker's own code is told by another one, unless that was told before (127).
wait "$worker" 2>/dev/null; last=$?
[ "$last" -eq 127 ] || code=$last
if [ "$asked" = USR1 ] && [ "$code" -ne 0 ] && [ "\${SLURM_RESTART_COUNT:-0}" -lt ${requeues} ]; then
  echo "mlab: the time limit is near; queued again"
  scontrol requeue "\${SLURM_ARRAY_JOB_ID}_$index" && sleep 600
fi
mv "$result.part" "$result"
exit "$code"
`;
}
