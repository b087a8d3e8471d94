import { join } from 'node:path';
import { writeFileAtomically } from '../../../lib/atomic-file.ts';
import { shellWord } from '../../../lib/shell-word.ts';
import { type Job, SlurmSettings } from '../../../schema/index.ts';
import type { ArrayScheduler, JobArray } from '../arrays/array-scheduler.ts';
import type { JobStates } from '../arrays/job-state.ts';
import { WaveFolder } from '../arrays/wave.ts';
import type { ExecutorPlace } from '../executor-kind.ts';
import { arrayOptions, batchScript, resourceOptions } from './batch-script.ts';
import { gatewayLines, type NodeGateway, openNodeGateway, writeSecretly } from './node-gateway.ts';
import { SlurmCommands } from './slurm-commands.ts';

export const folderName = 'slurm';

/** Slurm arrays, by its command line. */
export class SlurmScheduler implements ArrayScheduler {
  readonly name = 'Slurm';
  readonly folderName = folderName;
  readonly chains = true;
  readonly cancelsJobs = true;
  readonly #place: ExecutorPlace;
  readonly #settings: SlurmSettings;
  readonly #gateway: NodeGateway | null;
  readonly #commands: SlurmCommands;

  static async open(place: ExecutorPlace): Promise<SlurmScheduler> {
    const settings = place.settings.slurm ?? SlurmSettings.parse({});
    const { folder } = new WaveFolder(place.experiment.folder, folderName);
    return new SlurmScheduler(place, settings, await openNodeGateway(place, settings, folder));
  }

  private constructor(place: ExecutorPlace, settings: SlurmSettings, gateway: NodeGateway | null) {
    this.#place = place;
    this.#settings = settings;
    this.#gateway = gateway;
    this.#commands = new SlurmCommands(place.variables);
  }

  get threads(): number {
    return this.#settings.cores;
  }

  asksFor(job: Job): string[] {
    return resourceOptions(job, this.#settings);
  }

  async mostOfArray(): Promise<number> {
    return this.#settings.array_size ?? (await this.#commands.mostOfArray());
  }

  changed(job: Job): Job {
    return this.#gateway?.changed(job) ?? job;
  }

  prepare({ folder, jobs }: JobArray): void {
    const gateway = this.#gateway;
    const words = this.#settings.command ?? this.#place.command.map(shellWord).join(' ');
    const lines = gateway === null ? '' : gatewayLines(this.#settings);
    writeFileAtomically(scriptIn(folder), batchScript(folder, words, this.#settings, lines));
    if (gateway === null) return;
    for (const [index, { run }] of jobs.entries())
      writeSecretly(join(folder, 'tokens', `${index}`), gateway.tokenOf(run));
  }

  submit({ name, folder, jobs, after, parallel }: JobArray): Promise<string | null> {
    const [first] = jobs;
    if (first === undefined) throw new Error('no job to submit');
    const array = { name, folder, count: jobs.length, parallel, after };
    return this.#commands.submit([
      ...arrayOptions(array, this.#settings, this.#place.variables),
      ...resourceOptions(first, this.#settings),
      scriptIn(folder),
    ]);
  }

  get trouble(): string {
    return this.#commands.trouble;
  }

  queue(): Promise<JobStates | null> {
    return this.#commands.queue();
  }

  accounted(ids: readonly string[]): Promise<JobStates> {
    return this.#commands.accounted(ids);
  }

  cancel(ids: readonly string[]): Promise<boolean> {
    return this.#commands.cancel(ids);
  }

  cancelCommand(ids: readonly string[]): string {
    return `scancel ${ids.join(' ')}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#gateway?.[Symbol.asyncDispose]();
  }
}

function scriptIn(folder: string): string {
  return join(folder, 'array.sh');
}
