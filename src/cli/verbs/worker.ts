import { readFileSync } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { text } from 'node:stream/consumers';
import { hasCode, messageOf, UserError } from '../../lib/errors.ts';
import { executeJob, GpuLeases, workerHost } from '../../runs/index.ts';
import { Job } from '../../schema/index.ts';
import { exitCodes } from '../context.ts';
import { logProgress } from '../log-events.ts';
import { lineView } from '../progress.ts';
import { type RedisWorkerFlags, redisWorkerFlags, serveJobs } from '../serve-redis.ts';
import { plain } from '../table.ts';
import type { Verb } from '../verb.ts';

export const worker: Verb = {
  arguments: [{ name: '[job]', description: 'job file (JSON), or - for standard input' }],
  flags: redisWorkerFlags,
  details:
    'A job is one run, or the grading of one; docs/jobs.md describes the file. The experiment of the job must have the same\n' +
    'path on this machine, unless mlab run was given --artifacts. Keys of language models come from the environment of the\n' +
    'worker. Executing a job again resumes it, or does nothing if it is done. With --redis the worker takes jobs that fit its\n' +
    'cores and memory until you stop it; the password of Redis comes from MLAB_REDIS_PASSWORD.',
  negative: 'the job could not be finished',
  examples: [
    ['mlab worker job.json', 'one job, from a file'],
    ['mlab worker - < job.json', 'the same, from standard input'],
    ['mlab worker --redis redis://queue.example:6379', 'jobs of mlab run --on redis://…, one after another'],
  ],
  async run(context, [path], options: RedisWorkerFlags) {
    if (options.redis !== undefined) return await serveJobs(context, options);
    if (path === undefined) {
      throw new UserError(
        'no_job',
        'No job is given.',
        'Give a job file, or take jobs from Redis: --redis redis://HOST:PORT',
      );
    }
    const { folders, version, variables, log, logger, signal } = context;
    const job = await readJob(path, signal);
    const view = lineView(context);
    const write = logProgress(logger);
    const host = workerHost({
      ...{ folders, variables },
      dockerCommand: variables.MLAB_DOCKER,
      ...(job.resources.gpu ? { gpus: await GpuLeases.find(variables) } : {}),
      versions: { mlab: version, node: process.version },
      onProgress: (line) => log(`${job.task.id}: ${line}`),
    });
    const { record, problem } = await executeJob(job, host, {
      signal,
      onProgress: (progress) => {
        view.show(progress);
        write(progress);
      },
    });
    const done = job.kind === 'run' ? `${record?.end?.reason}` : 'graded';
    return {
      text: `${job.run.id}: ${plain(problem ?? done)}`,
      json: { run: job.run.id, status: record?.status ?? null, problem },
      exitCode: signal.aborted ? exitCodes.interrupted : problem === null ? exitCodes.ok : exitCodes.negative,
    };
  },
};

async function readJob(path: string, signal: AbortSignal): Promise<Job> {
  try {
    // Standard input may never end.
    const written =
      path === '-' ? await text(addAbortSignal(signal, process.stdin)) : readFileSync(path, 'utf8');
    return Job.parse(JSON.parse(written));
  } catch (error) {
    if (hasCode(error, 'ENOENT'))
      throw new UserError('no_job', `There is no file ${path}.`, 'Name the job file that mlab has written.');
    throw new UserError(
      'bad_job',
      `${path === '-' ? 'Standard input' : path} is not a valid job: ${messageOf(error)}`,
      'mlab writes job files; docs/jobs.md describes them.',
      { cause: error },
    );
  }
}
