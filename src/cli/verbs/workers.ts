import { basename } from 'node:path';
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
    'Start workers with mlab worker --redis. Each reports every 2 s; one that is silent for 15 s is no longer listed. Cores,\n' +
    'memory and GPUs are those that its jobs hold, of those that it may use. The password comes from MLAB_REDIS_PASSWORD.',
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
      { title: 'last seen', align: right },
      { title: 'jobs', align: right },
      { title: 'cores', align: right },
      { title: 'memory (MB)', align: right },
      { title: 'GPUs', align: right },
      { title: 'runs done', align: right },
      { title: 'labels' },
      { title: 'works on' },
    ];
    const rows = found.map(({ id, state, total, free, jobs, done, labels, seconds_ago: ago }) => [
      ...[id, state, `${ago} s ago`, String(jobs.length)],
      ...(['cores', 'memory_mb', 'gpus'] as const).map((name) => {
        const taken = Math.round((total[name] - free[name]) * 100) / 100;
        return `${taken}/${total[name]}`;
      }),
      ...[
        String(done),
        labels.join(', '),
        jobs.map(({ kind, experiment, run }) => `${kind} ${basename(experiment)}/${run}`).join(', '),
      ],
    ]);
    return { text: table(columns, rows), json: { workers: found } };
  },
};
