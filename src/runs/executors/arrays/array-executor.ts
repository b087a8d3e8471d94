import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../../lib/errors.ts';
import { withFileLock } from '../../../lib/file-lock.ts';
import type { GradeJob, Job, RunId } from '../../../schema/index.ts';
import { noteUnqueued, queueOf } from '../../../store/index.ts';
import type { Following } from '../../jobs/executor.ts';
import type { JobResult } from '../../jobs/job-result.ts';
import { readableRecord } from '../../readable-record.ts';
import { doneBefore } from '../done-before.ts';
import type { Cancellation, ExecutorPlace, RemoteExecutor } from '../executor-kind.ts';
import { type ArrayScheduler, isNotSubmitted } from './array-scheduler.ts';
import { FollowedJob, type Given, type Submitted } from './followed-job.ts';
import { groupsOf } from './groups.ts';
import { hasEnded, type JobState, type JobStates } from './job-state.ts';
import { type Wave, WaveFolder } from './wave.ts';

/** Jobs that are given within this time are submitted together. */
const gatherMs = 200;
const pollMs = 2_000;
/** A large queue is read less often: reading takes a tenth of the time at most. */
const pollShare = 10;
/** How long to wait for the end of cancelled jobs. */
const cancelMs = 15_000;

const interrupted: JobResult = { record: null, problem: 'interrupted' };

/**
 * Submits jobs as arrays, and follows them. Its submissions are recorded in the experiment's folder, so that the next
 * executor follows them instead of submitting them again.
 */
export class ArrayExecutor implements RemoteExecutor {
  readonly #place: ExecutorPlace;
  readonly #scheduler: ArrayScheduler;
  readonly #waves: WaveFolder;
  readonly #followed = new Map<string, FollowedJob>();
  /** Runs whose end was seen here, so that their gradings are reported, too. */
  readonly #seen = new Set<RunId>();
  #given: Given[] = [];
  #gathering: NodeJS.Timeout | undefined;
  #work: Promise<void> = Promise.resolve();
  #isWatching = false;
  #saidSilent = false;

  /** @param scheduler is closed with it */
  constructor(place: ExecutorPlace, scheduler: ArrayScheduler) {
    this.#place = place;
    this.#scheduler = scheduler;
    this.#waves = new WaveFolder(place.experiment.folder, scheduler.folderName);
    place.signal.addEventListener('abort', this.#leave, { once: true });
  }

  get threads(): number {
    return this.#scheduler.threads;
  }

  execute(job: Job, following: Following, next?: GradeJob): Promise<JobResult> {
    const done = doneBefore(this.#place, job, following, this.#seen.has(job.run.id));
    if (done !== null) return Promise.resolve(done);
    if (this.#place.signal.aborted) return Promise.resolve(interrupted);
    const hadBegun = readableRecord(this.#place.experiment.runFolder(job.run.id)) !== null;
    return new Promise((resolve, reject) => {
      this.#give({ job, next, following, hadBegun, attempts: 0, resolve, reject });
    });
  }

  async cancel(runs?: ReadonlySet<string>): Promise<Cancellation> {
    const { name, cancelsJobs } = this.#scheduler;
    if (runs !== undefined && !cancelsJobs)
      return { jobs: 0, ending: 0, problem: `${name} can only cancel all jobs of an experiment.` };
    // Waits for a submission in progress, here and in another process.
    await this.#work;
    const late = AbortSignal.timeout(cancelMs);
    await withFileLock(this.#waves.lock, { signal: late }, async () => {}).catch(() => {});
    const before = await this.#scheduler.queue();
    const waves = this.#waves.read();
    // If it does not answer, any of them may not have ended.
    const meant = (states: JobStates | null) =>
      (states === null ? waves.flatMap(jobsOf) : this.#underWay(waves, states)).filter(
        ({ run }) => runs?.has(run) !== false,
      );
    const submitted = meant(before);
    const ids = runs === undefined ? idsOf(submitted) : submitted.map(({ key }) => key);
    if (ids.length === 0) return { jobs: 0, ending: 0, problem: null };
    if (before === null || !(await this.#scheduler.cancel(ids))) {
      const problem = `${name} does not answer. Cancel the jobs with: ${this.#scheduler.cancelCommand(ids)}`;
      return { jobs: before === null ? 0 : submitted.length, ending: 0, problem };
    }
    let ending = submitted.length;
    const patience = AbortSignal.timeout(cancelMs);
    while (ending > 0 && !patience.aborted) {
      const now = await this.#scheduler.queue();
      if (now !== null) ending = meant(now).length;
      if (ending > 0) await sleep(pollMs / 4);
    }
    return { jobs: submitted.length, ending, problem: null };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#leave();
    this.#place.signal.removeEventListener('abort', this.#leave);
    await this.#work;
    await this.#scheduler[Symbol.asyncDispose]();
  }

  /** Stops following; the jobs continue. */
  readonly #leave = (): void => {
    clearTimeout(this.#gathering);
    for (const { resolve } of this.#given.splice(0)) resolve(interrupted);
    for (const { given, isRunning } of this.#followed.values())
      given.resolve({ ...interrupted, left: isRunning ? 'running' : 'queued' });
    this.#followed.clear();
  };

  #give(given: Given): void {
    this.#given.push(given);
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      const gathered = this.#given.splice(0);
      this.#work = this.#work.then(() => this.#followOrSubmit(gathered));
    }, gatherMs);
  }

  /** Follows jobs that are already submitted, and submits the others. */
  async #followOrSubmit(gathered: readonly Given[]): Promise<void> {
    const { signal } = this.#place;
    try {
      // Another mlab of the same experiment must not submit the same jobs meanwhile.
      await withFileLock(this.#waves.lock, { signal }, async () => {
        const fresh = await this.#followThere(gathered);
        if (fresh.length === 0) return;
        const most = await this.#scheduler.mostOfArray();
        const needs = ({ job, next }: Given) =>
          [job, ...(next === undefined ? [] : [next])].map((each) => this.#scheduler.asksFor(each));
        for (const group of groupsOf(fresh, most, needs)) {
          signal.throwIfAborted();
          await this.#submitGroup(group);
        }
      });
    } catch (error) {
      if (isNotSubmitted(error)) await this.#refused(gathered, error);
      else for (const { resolve, reject } of gathered) signal.aborted ? resolve(interrupted) : reject(error);
    }
    void this.#watch();
  }

  /** Ends the jobs that were not submitted; those of an earlier array, which was accepted, are followed. */
  async #refused(gathered: readonly Given[], error: unknown): Promise<void> {
    const there = new Set([...this.#followed.values()].map(({ given }) => given));
    const left = gathered.filter((given) => !there.has(given));
    const problem = `not submitted: ${messageOf(error)}`;
    const runs = left.map(({ job }) => job.run.id);
    // Otherwise these runs would be listed as queued.
    await noteUnqueued(this.#place.experiment.folder, runs, { state: 'failed', why: problem }).catch(
      () => {},
    );
    for (const { resolve, reject } of left)
      if (there.size === 0) reject(error);
      else resolve({ record: null, problem });
  }

  /** @returns those that nobody submitted, or whose job has ended */
  async #followThere(gathered: readonly Given[]): Promise<Given[]> {
    const waves = this.#waves.read();
    if (waves.length === 0) return [...gathered];
    const underWay = this.#underWay(waves, await this.#queue());
    const there = new Map(underWay.map((submitted) => [nameOf(submitted.kind, submitted.run), submitted]));
    return gathered.filter((given) => {
      const submitted = there.get(nameOf(given.job.kind, given.job.run.id));
      if (submitted !== undefined) this.#follow(given, submitted);
      return submitted === undefined;
    });
  }

  /** Jobs of these arrays that have not ended. An array whose number was never reported is found by its name. */
  #underWay(waves: readonly Wave[], states: JobStates): Submitted[] {
    const ids = new Map([...states].map(([key, { name }]) => [name, key.split('_')[0]]));
    return waves.flatMap((wave) => {
      const id = wave.id ?? ids.get(wave.name) ?? null;
      if (id !== null && wave.id === null) this.#waves.write({ ...wave, id });
      return jobsOf({ ...wave, id }).filter(({ key }) => {
        const state = stateOf(states, wave, key);
        return state !== undefined && !hasEnded(state);
      });
    });
  }

  async #submitGroup(group: readonly Given[]): Promise<void> {
    const wave = await this.#submit(group.map(({ job }) => job));
    for (const [index, given] of group.entries()) {
      const { kind, run } = given.job;
      this.#follow(given, { wave, index, key: `${wave.id}_${index}`, kind, run: run.id });
    }
    const gradings = this.#scheduler.chains ? group.flatMap(({ next }) => next ?? []) : [];
    // Each grading begins when its run has ended well, whether or not anybody is there to request it.
    if (gradings.length > 0) await this.#submit(gradings, wave.id ?? undefined);
  }

  async #submit(jobs: readonly Job[], after?: string): Promise<Wave> {
    const wave = this.#waves.create(jobs.map((job) => this.#scheduler.changed(job)));
    const folder = this.#waves.folderOf(wave);
    const array = { name: wave.name, folder, jobs, after, parallel: this.#place.parallel };
    this.#scheduler.prepare(array);
    try {
      const id = await this.#submitted(wave.name, () => this.#scheduler.submit(array));
      const done = { ...wave, id };
      this.#waves.write(done);
      return done;
    } catch (error) {
      // After any other error, the scheduler may have accepted it.
      if (isNotSubmitted(error)) rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /**
   * If the scheduler did not answer, it may still have accepted the array. So the array is looked up by its name, and
   * submitted again only if it is not found.
   */
  async #submitted(name: string, submit: () => Promise<string | null>): Promise<string> {
    for (;;) {
      const id = await submit();
      if (id !== null) return id;
      for (const [key, state] of await this.#queue())
        if (state.name === name) return key.split('_')[0] ?? key;
    }
  }

  #follow(given: Given, submitted: Submitted): void {
    const folder = this.#place.experiment.runFolder(given.job.run.id);
    this.#followed.set(
      `${submitted.wave.name}_${submitted.index}`,
      new FollowedJob(given, submitted, folder, this.#waves, this.#scheduler.name),
    );
  }

  /** Checks all followed jobs until they have ended. */
  async #watch(): Promise<void> {
    if (this.#isWatching) return;
    this.#isWatching = true;
    const { signal } = this.#place;
    let pause = pollMs;
    while (this.#followed.size > 0 && !signal.aborted) {
      await sleep(pause, undefined, { signal }).catch(() => {});
      if (signal.aborted) break;
      const before = performance.now();
      try {
        await this.#lookAtAll();
      } catch (error) {
        for (const { given } of this.#followed.values()) given.reject(error);
        this.#followed.clear();
      }
      pause = Math.max(pollMs, (performance.now() - before) * pollShare);
    }
    this.#isWatching = false;
  }

  async #lookAtAll(): Promise<void> {
    const states = await this.#queue();
    const unknown = [...this.#followed.values()].filter(
      ({ submitted: { wave, key } }) => stateOf(states, wave, key) === undefined,
    );
    const accounted =
      unknown.length === 0
        ? new Map()
        : await this.#scheduler.accounted(idsOf(unknown.map(({ submitted }) => submitted)));
    const arrays = new Set([...states.values()].map(({ name }) => name));
    for (const [name, followed] of this.#followed) {
      const { wave, key } = followed.submitted;
      const state = stateOf(states, wave, key) ?? stateOf(accounted, wave, key);
      const check = followed.look(state, arrays.has(wave.name));
      if (check.kind === 'under way') continue;
      this.#followed.delete(name);
      const { given } = followed;
      this.#seen.add(given.job.run.id);
      if (check.kind === 'ended') given.resolve(check.result);
      else if (this.#isCancelled(given.job.run.id))
        given.resolve({ record: null, problem: 'cancelled by another command', isCancelled: true });
      else {
        this.#place.log(
          `${given.job.run.id}: submitted again, as ${this.#scheduler.name} ended ${key}: ${check.why}`,
        );
        this.#give({ ...given, attempts: given.attempts + 1 });
      }
    }
  }

  /** Slurm without accounting keeps nothing of a single job that was cancelled while it waited. */
  #isCancelled(run: RunId): boolean {
    return queueOf(this.#place.experiment.folder).unqueued.get(run)?.state === 'cancelled';
  }

  /**
   * Waits for the controller if it does not answer.
   * @throws the signal's reason
   */
  async #queue(): Promise<JobStates> {
    const { signal, onOutage } = this.#place;
    const service = this.#scheduler.name;
    for (;;) {
      const states = await this.#scheduler.queue();
      if (states !== null) {
        if (this.#saidSilent) onOutage({ service, isOver: true, why: '' });
        this.#saidSilent = false;
        return states;
      }
      if (!this.#saidSilent) onOutage({ service, isOver: false, why: this.#scheduler.trouble });
      this.#saidSilent = true;
      await sleep(pollMs, undefined, { signal });
    }
  }
}

/** A controller that lost its state may give the same id to another array. */
function stateOf(states: JobStates, { name }: Wave, key: string): JobState | undefined {
  const state = states.get(key);
  return state?.name === name ? state : undefined;
}

const nameOf = (kind: Job['kind'], run: string): string => `${kind} ${run}`;

/** The jobs of an array whose id is known. */
function jobsOf(wave: Wave): Submitted[] {
  if (wave.id === null) return [];
  return wave.jobs.map(({ kind, run }, index) => ({ wave, index, key: `${wave.id}_${index}`, kind, run }));
}

function idsOf(submitted: readonly Submitted[]): string[] {
  return [...new Set(submitted.flatMap(({ wave }) => wave.id ?? []))];
}
