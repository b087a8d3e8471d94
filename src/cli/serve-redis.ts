import { UserError } from '../lib/errors.ts';
import { GpuLeases, redisAddress, serveRedis } from '../runs/index.ts';
import { type Context, exitCodes, type VerbResult } from './context.ts';
import { wholeNumber } from './flag-numbers.ts';
import { logProgress, reportOutage } from './log-events.ts';
import { counted } from './table.ts';
import type { Flag } from './verb.ts';

export interface RedisWorkerFlags {
  /** An address; true: the one in the environment. */
  redis?: string | true;
  parallel?: number;
  cores?: number;
  memory?: number;
  label?: string[];
  stalledAfter?: number;
}

export const redisWorkerFlags: Flag[] = [
  {
    flags: '--redis [url]',
    description:
      'take jobs from this Redis until stopped: redis://HOST:PORT, or rediss:// for TLS (default: MLAB_REDIS_URL)',
  },
  {
    flags: '--parallel <n>',
    description: 'maximum jobs at a time (default: one per core)',
    parse: wholeNumber(1),
  },
  { flags: '--cores <n>', description: 'cores for jobs (default: all)', parse: wholeNumber(1) },
  { flags: '--memory <MB>', description: 'memory for jobs (default: all)', parse: wholeNumber(1) },
  {
    flags: '--label <name>',
    description: 'a label that jobs may ask for (executor.redis.labels in the experiment file)',
    many: 'repeated',
  },
  {
    flags: '--stalled-after <seconds>',
    description: 'how long a worker may be silent before its jobs are given to others (default: 30)',
    parse: wholeNumber(1),
  },
];

const words = {
  first: 'taking no more jobs; running ones are recorded and go back into the queue.',
  second: 'stopping at once.',
};

/** Takes jobs from a Redis until it is stopped. */
export async function serveJobs(context: Context, flags: RedisWorkerFlags): Promise<VerbResult> {
  const { folders, version, variables, log, logger, signal } = context;
  const address = redisAddress(flags.redis === true ? undefined : flags.redis, variables);
  const labels = flags.label ?? [];
  const wrong = labels.find((label) => !/^[A-Za-z0-9_.=]+$/.test(label));
  if (wrong !== undefined) {
    throw new UserError(
      'bad_flag',
      `--label ${wrong}: not a valid label.`,
      'A label consists of letters, digits, _, . and =.',
    );
  }
  const cancelled = context.detachable(words);
  cancelled.addEventListener('abort', () => process.exit(exitCodes.interrupted), { once: true });
  const gpus = await GpuLeases.find(variables);
  const done = await serveRedis({
    ...{ address, labels, signal, stalledAfterSeconds: flags.stalledAfter ?? 30 },
    onReady: (worker) =>
      log(
        `Taking jobs from ${address.shown} as worker ${worker}. Stop with Ctrl-C or SIGTERM: running jobs are recorded and go back into the queue.`,
      ),
    machine: {
      ...{ folders, variables, gpus, dockerCommand: variables.MLAB_DOCKER, onProgress: log },
      versions: { mlab: version, node: process.version },
    },
    amounts: {
      ...(flags.cores === undefined ? {} : { cores: flags.cores }),
      ...(flags.memory === undefined ? {} : { memory_mb: flags.memory }),
      ...(flags.parallel === undefined ? {} : { jobs: flags.parallel }),
    },
    onJobProgress: logProgress(logger),
    onOutage: reportOutage(context),
  });
  return { text: `${counted(done, 'run')} done.`, json: { done } };
}
