import { z } from 'zod';
import type { JobResources } from '../../../schema/index.ts';
import type { Following } from '../../jobs/executor.ts';
import type { Queued } from './job-queue.ts';
import { whyNever } from './suitable-workers.ts';
import type { WorkerReport } from './workers.ts';

/** What a worker tells of a run: that it begins it, or, `held`, why it can't and puts it back. */
export const RunNotice = z.object({ run: z.string(), place: z.string(), held: z.string().optional() });
export type RunNotice = z.infer<typeof RunNotice>;

/** A queued job that a command follows. */
export interface FollowedQueuedJob {
  queued: Queued;
  following: Following;
  /** The worker that executes it, in words; empty while it is queued. */
  place: string;
  /** Why workers put it back, as it was told last; empty if none has. */
  held: string;
  /** How often in a row no worker reported it, though one had begun it. */
  unreported: number;
}

/**
 * Reports of workers come every few seconds, so one may be missed. A worker that is still listed may have begun the run
 * after its last report, or may just have been killed.
 */
const maxUnreported = { gone: 2, listed: 20 };

export function tellPlace(job: FollowedQueuedJob, place: string): void {
  if (job.place === place) return;
  job.place = place;
  job.following.onProgress({ kind: 'run_started', run: job.queued.job.run, resumed: false, place });
}

/** A process that has the run, but does not answer: it may be stopped, and continue later. */
export function tellHeld(job: FollowedQueuedJob, held: string, log: (line: string) => void): void {
  if (job.held === held) return;
  job.held = held;
  log(`${job.queued.job.run.id} is put back: ${held} End that process if it hangs.`);
}

/**
 * Tells where runs are, if their beginning was not seen: they began before this command, or their worker is gone.
 * @param experiment its folder
 * @param shown the address of Redis
 * @param log tells of workers that are gone
 */
export function tellPlaces(
  jobs: Iterable<FollowedQueuedJob>,
  workers: readonly WorkerReport[],
  experiment: string,
  shown: string,
  log: (line: string) => void,
): void {
  const places = new Map(
    workers.flatMap(({ id, host, jobs: active }) =>
      active
        .filter((each) => each.kind === 'run' && each.experiment === experiment)
        .map(({ run }) => [run, `${host} (${id})`] as const),
    ),
  );
  for (const job of jobs) {
    const { kind, run } = job.queued.job;
    const place = kind === 'run' ? places.get(run.id) : undefined;
    job.unreported = place === undefined && job.place !== '' ? job.unreported + 1 : 0;
    if (place !== undefined) tellPlace(job, place);
    if (place !== undefined || job.place === '') continue;
    const isListed = workers.some(({ id }) => job.place.endsWith(`(${id})`));
    if (job.unreported >= (isListed ? maxUnreported.listed : maxUnreported.gone)) {
      if (!isListed) log(`${run.id}: its worker ${job.place} is gone; the job is given to another.`);
      job.place = '';
      job.following.onProgress({ kind: 'run_queued', run, place: shown });
    }
  }
}

/** That no worker is there, or that some jobs fit none of them; empty if all is well. */
export function unwantedText(
  jobs: readonly FollowedQueuedJob[],
  workers: readonly WorkerReport[],
  shown: string,
): string {
  if (workers.length === 0)
    return `No worker takes jobs from ${shown} now. Start one with: mlab worker --redis ${shown}`;
  const lacking = jobs.flatMap(({ queued }) => {
    const reasons = workers.map((worker) => whyNever(worker, queued));
    const why = reasons.every((reason) => reason !== null) ? reasons[0] : undefined;
    return why === undefined ? [] : [{ why, resources: queued.job.resources }];
  });
  const [first] = lacking;
  if (first === undefined) return '';
  const what = lacking.length === 1 ? '1 job fits' : `${lacking.length} jobs fit`;
  const who = new Set(lacking.map(({ why }) => why)).size === 1 ? 'they need' : 'the first of them needs';
  const why = lacking.length === 1 ? first.why : first.why.replace(/^it needs/, who);
  const needs = lacking.map(({ resources }) => resources);
  return `${what} no worker that is there: ${why}.${wayOut(needs, workers, shown)} mlab workers --redis ${shown} lists them.`;
}

const workerFlags = { cores: '--cores', memory_mb: '--memory' } as const;

/** What to do if no worker has the cores or the memory; empty if jobs lack something else. */
function wayOut(needs: readonly JobResources[], workers: readonly WorkerReport[], shown: string): string {
  const lacks = (['cores', 'memory_mb'] as const).flatMap((name) => {
    const needed = Math.ceil(Math.max(...needs.map((resources) => resources[name])));
    const most = Math.max(...workers.map(({ total }) => total[name]));
    return needed > most ? [{ flag: `${workerFlags[name]} ${needed}`, key: `${name}: ${most}` }] : [];
  });
  if (lacks.length === 0) return '';
  const flags = lacks.map(({ flag }) => flag).join(' ');
  const keys = lacks.map(({ key }) => key).join(', ');
  return ` Start a worker with more (mlab worker --redis ${shown} ${flags}), or ask for less in the experiment file (resources: { ${keys} }) and give the same command again.`;
}
