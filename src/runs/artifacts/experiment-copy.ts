import { existsSync } from 'node:fs';
import { join } from 'node:path';
import pLimit, { type LimitFunction } from 'p-limit';
import { z } from 'zod';
import { writeFileAtomically } from '../../lib/atomic-file.ts';
import { messageOf, UserError } from '../../lib/errors.ts';
import { sha256 } from '../../lib/hash.ts';
import { readRegularFile } from '../../lib/regular-file.ts';
import {
  archivedAttempts,
  type Experiment,
  leaveFreeLease,
  objectsOfRun,
  parseStoredText,
} from '../../store/index.ts';
import { openS3Store } from './open-s3-store.ts';
import { Head, headKey, RunCopy } from './run-copy.ts';
import type { S3Store } from './s3-store.ts';

/**
 * The folder, in an experiment's folder, that records which version in the store the files of each run here come from.
 */
const basesName = 'artifacts';
const maxBytes = 2 ** 28;

const Base = z.strictObject({ v: z.literal(1), ...Head.shape, isComplete: z.boolean() });
type Base = z.infer<typeof Base>;

export interface ExperimentCopyOptions {
  variables: Readonly<Record<string, string | undefined>>;
  log: (line: string) => void;
  signal: AbortSignal;
}

/** An experiment's folder and its copy in a store, on the side that gives the jobs to workers. Must be closed. */
export class ExperimentCopy implements Disposable {
  readonly #store: S3Store;
  readonly #experiment: Experiment;
  readonly #signal: AbortSignal;
  readonly #turns = new Map<string, LimitFunction>();

  private constructor(store: S3Store, experiment: Experiment, signal: AbortSignal) {
    this.#store = store;
    this.#experiment = experiment;
    this.#signal = signal;
  }

  /**
   * Fetches the current state of the experiment from the store.
   * @param given `s3://BUCKET/FOLDER` of all experiments; undefined: the experiment's folder is shared, and the result
   *   is null
   * @throws UserError `artifacts_missing`, `no_s3_library`, `no_artifact_store`, `no_conditional_writes`
   */
  static async open(
    given: string | undefined,
    experiment: Experiment,
    { variables, log, signal }: ExperimentCopyOptions,
  ): Promise<ExperimentCopy | null> {
    if (given === undefined) {
      refuseForgotten(experiment);
      return null;
    }
    const plan = readRegularFile(join(experiment.folder, 'plan.json'), maxBytes, { follow: true });
    // Another plan with the same name is another experiment.
    const name = `${experiment.plan.name}-${sha256(plan).slice(0, 16)}`;
    const store = await openS3Store(`${given.replace(/\/+$/, '')}/${name}`, variables);
    const copy = new ExperimentCopy(store, experiment, signal);
    try {
      await refuseUnconditionalWrites(store, plan.toString('utf8'));
      const there = await store.tags('runs/');
      const changed = experiment.runIds.filter((id) => {
        const tag = there.get(headKey(id));
        const base = tag === undefined ? null : copy.#base(id);
        return tag !== undefined && (base?.tag !== tag || !base.isComplete);
      });
      await Promise.all(
        changed.map((id) => copy.fetch(id).catch((error: unknown) => log(`${id}: ${messageOf(error)}`))),
      );
      signal.throwIfAborted();
      return copy;
    } catch (error) {
      copy[Symbol.dispose]();
      throw error;
    }
  }

  /** `s3://…` of this experiment, for the workers that execute its jobs. */
  get address(): string {
    return this.#store.address;
  }

  /**
   * Updates the files of a run here from the store.
   * @throws UserError `artifacts_differ`, and the store's errors
   */
  async fetch(id: string): Promise<void> {
    await this.#inTurn(id, () => this.#fetch(id));
  }

  /**
   * Updates the store with changes made here, such as a decision, or runs that were executed here.
   * @throws as `fetch`
   */
  async send(id: string): Promise<void> {
    await this.#inTurn(id, () => this.#send(id));
  }

  [Symbol.dispose](): void {
    this.#store[Symbol.dispose]();
  }

  /** Only one operation at a time may use the run's files. */
  async #inTurn(id: string, work: () => Promise<void>): Promise<void> {
    const turn = this.#turns.get(id) ?? pLimit(1);
    this.#turns.set(id, turn);
    await turn(work);
  }

  async #fetch(id: string): Promise<void> {
    const folder = this.#experiment.runFolder(id);
    const base = this.#base(id);
    const copy = this.#copyOf(id, base);
    // Deleted files are fetched again.
    const isGone = copy.isEmpty;
    const isChanged = !isGone && base?.isComplete !== false && !copy.isSame;
    const head = await copy.look();
    if (head === null || (head.tag === base?.tag && base.isComplete && !isGone)) return;
    leaveFreeLease(folder.folder, head.checkpoint.epoch);
    using _ = folder.lock();
    if (isChanged && !copy.isSame) {
      throw new UserError(
        'artifacts_differ',
        `The run ${id} was changed both here and in ${this.address}.`,
        `Keep one version: delete ${folder.folder} to fetch the other one, or run the experiment under another name.`,
      );
    }
    this.#note(id, head, false);
    await copy.download(this.#signal);
    this.#note(id, head, true);
  }

  async #send(id: string): Promise<void> {
    if (this.#copyOf(id, this.#base(id)).isSame) return;
    await this.#fetch(id);
    const copy = this.#copyOf(id, this.#base(id));
    if (copy.isSame) return;
    const folder = this.#experiment.runFolder(id);
    using lease = folder.lock();
    await copy.claim(lease.epoch);
    await copy.upload(() => [folder, ...archivedAttempts(folder)].flatMap((each) => [...objectsOfRun(each)]));
    if (copy.head !== null) this.#note(id, copy.head, true);
  }

  #copyOf(id: string, base: Base | null): RunCopy {
    return new RunCopy(this.#store, this.#experiment.runFolder(id), base);
  }

  #base(id: string): Base | null {
    const path = this.#basePath(id);
    if (!existsSync(path)) return null;
    return parseStoredText(Base, readRegularFile(path, maxBytes).toString('utf8'), path);
  }

  #note(id: string, { checkpoint, tag }: Head, isComplete: boolean): void {
    const base: Base = { v: 1, checkpoint, tag, isComplete };
    writeFileAtomically(this.#basePath(id), `${JSON.stringify(base)}\n`);
  }

  #basePath(id: string): string {
    return join(this.#experiment.folder, basesName, `${id}.json`);
  }
}

/** @throws UserError `artifacts_missing` */
function refuseForgotten({ folder, plan }: Experiment): void {
  if (!existsSync(join(folder, basesName))) return;
  throw new UserError(
    'artifacts_missing',
    `The runs of ${plan.name} are in an S3-compatible store, but no store is given.`,
    'Give the same store as before: --artifacts s3://BUCKET/FOLDER, or executor.redis.artifacts in an experiment file.',
  );
}

/**
 * Without them, nothing stops a former owner from writing.
 * @throws UserError `no_conditional_writes`
 */
async function refuseUnconditionalWrites(store: S3Store, plan: string): Promise<void> {
  const write = (tag: string | null) => store.replace('plan.json', plan, tag);
  await write(null);
  const isHeeded = (await write(null)) === null && (await write(`"${'0'.repeat(32)}"`)) === null;
  if (isHeeded) return;
  throw new UserError(
    'no_conditional_writes',
    `${store.address} ignores the conditions If-None-Match and If-Match, so two workers could write the same run.`,
    'Use a store that supports conditional writes, or a shared folder.',
  );
}
