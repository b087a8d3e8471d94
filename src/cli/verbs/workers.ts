import { listWorkers, redisAddress } from '../../runs/index.ts';
import { table } from '../table.ts';
import type { Verb } from '../verb.ts';

interface Options {
  redis?: string;
}

export const workers: Verb = {
  onlyReads: true,
  arguments: [],
  flags: [
    {
      flags: '--redis <url>',
      description: 'redis://HOST:PORT, or rediss:// for TLS (default: MLAB_REDIS_URL)',
    },
  ],
  details:
    'Start workers with mlab worker --redis. A worker that is silent for 15 s is no longer listed. The password comes from\n' +
    'MLAB_REDIS_PASSWORD.',
  examples: [
    ['mlab workers --redis redis://queue.example:6379', 'all workers and what they are doing'],
    ['mlab workers --json', 'the same as data, of the Redis in MLAB_REDIS_URL'],
  ],
  async run({ variables, signal }, _, { redis }: Options) {
    const address = redisAddress(redis, variables);
    const found = await listWorkers(address, signal);
    if (found.length === 0)
      return {
        text: `No worker takes jobs from ${address.shown}. Start one with: mlab worker --redis ${address.shown}`,
        json: { workers: [] },
      };
    const right = 'right' as const;
    const columns = [
      { title: 'worker' },
      { title: 'state' },
      { title: 'jobs', align: right },
      { title: 'cores', align: right },
      { title: 'memory (MB)', align: right },
      { title: 'GPUs', align: right },
      { title: 'done', align: right },
      { title: 'labels' },
      { title: 'at work on' },
    ];
    const rows = found.map(({ id, state, total, free, jobs, done, labels }) => [
      ...[id, state, `${jobs.length}/${total.jobs}`],
      ...(['cores', 'memory_mb', 'gpus'] as const).map((name) => {
        const taken = Math.round((total[name] - free[name]) * 100) / 100;
        return `${taken}/${total[name]}`;
      }),
      ...[String(done), labels.join(', '), jobs.map(({ kind, run }) => `${kind} ${run}`).join(', ')],
    ]);
    return { text: table(columns, rows), json: { workers: found } };
  },
};
