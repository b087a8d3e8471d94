import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../lib/errors.ts';
import { openToCallers } from '../lib/open-to-readers.ts';
import { createSandbox, type ProcessEnd, type Sandbox, type SandboxProcess } from '../sandbox/index.ts';
import type { LocalServicesOptions } from './options.ts';
import { serviceSandbox, servicesInside } from './service-sandbox.ts';

const startMs = 15_000;
const pollMs = 20;
/** Within this time an interpreter ends that has closed its connections. */
const endingMs = 300;
/** Between an end and the next start. */
const pauseMs = 500;

/** One script of a task that serves on a socket, and is restarted if it ends before it is stopped. */
export class ScriptService {
  readonly #name: string;
  readonly #script: string;
  readonly #socket: string;
  readonly #options: LocalServicesOptions;
  readonly #stopping = new AbortController();
  #running: { sandbox: Sandbox; process: SandboxProcess } | null = null;
  #watching: Promise<void> = Promise.resolve();
  #printed = '';
  #ends = 0;
  #lastEnd: string | null = null;

  private constructor(name: string, script: string, folder: string, options: LocalServicesOptions) {
    this.#name = name;
    this.#script = script;
    this.#socket = join(folder, `${name}.sock`);
    this.#options = options;
  }

  /**
   * Resolves when it listens.
   * @throws SandboxError, or an Error with its output
   */
  static async start(
    name: string,
    script: string,
    folder: string,
    options: LocalServicesOptions,
  ): Promise<ScriptService> {
    const service = new ScriptService(name, script, folder, options);
    try {
      await service.#start(folder);
    } catch (error) {
      await service.stop();
      throw error;
    }
    service.#watching = service.#watch(folder);
    return service;
  }

  /** Stops it, and returns how it ended before that; null if it did not. */
  async stop(): Promise<string | null> {
    this.#stopping.abort();
    await this.#end();
    await this.#watching;
    // It may have been about to start again.
    await this.#end();
    if (this.#lastEnd === null || this.#ends < 2) return this.#lastEnd;
    return `${this.#lastEnd} That was the last of ${this.#ends} times.`;
  }

  async #end(): Promise<void> {
    const running = this.#running;
    if (running === null) return;
    this.#running = null;
    // Submitted code may have made it end a moment ago: whoever is only killed shows no exit code.
    await Promise.race([running.process.ended, sleep(endingMs, undefined, { ref: false })]);
    const end = await running.process.kill();
    await running.sandbox[Symbol.asyncDispose]();
    // A script that was just about to end when it was stopped shows that by its exit code.
    if (end.ending !== 'aborted' || (end.exitCode ?? 0) !== 0) this.#keep(end);
  }

  async #start(folder: string): Promise<void> {
    const { driver, sandboxOptions, signal } = this.#options;
    const sandbox = await createSandbox(driver, serviceSandbox(this.#options, folder), sandboxOptions);
    const inside = (target: string) => sandbox.pathInside(target);
    this.#printed = '';
    const starting = sandbox.start(
      [
        ...(['python', '-I', `${inside('/task/hidden')}/${this.#script}`] as const),
        ...['--socket', `${inside(servicesInside)}/${this.#name}.sock`],
        ...['--public', inside('/public'), '--private', inside('/private')],
      ],
      {
        stdin: 'none',
        onOutput: (chunk) => {
          this.#printed = (this.#printed + chunk.toString('utf8')).slice(-2000);
        },
        timeoutMs: null,
        signal,
      },
    );
    const process = await starting.catch(async (error: unknown) => {
      await sandbox[Symbol.asyncDispose]();
      throw error;
    });
    this.#running = { sandbox, process };
    await this.#untilListening(process);
  }

  async #untilListening(process: SandboxProcess): Promise<void> {
    for (let waited = 0; !existsSync(this.#socket); waited += pollMs) {
      this.#options.signal.throwIfAborted();
      if (this.#stopping.signal.aborted) return;
      const end = await Promise.race([process.ended, sleep(pollMs, null)]);
      if (end !== null) throw new Error(this.#endedEarly(end));
      if (waited > startMs)
        throw new Error(`the service ${this.#name} did not listen within ${startMs / 1000} s`);
    }
    openToCallers(this.#socket);
  }

  /** Submitted code may make it end, for example with too many requests: it is restarted, but only so many times. */
  async #watch(folder: string): Promise<void> {
    for (let restarts = this.#options.restarts ?? 0; ; restarts--) {
      const running = this.#running;
      if (running === null || this.#stopping.signal.aborted) return;
      const end = await running.process.ended;
      if (this.#stopping.signal.aborted || this.#options.signal.aborted || this.#running !== running) return;
      this.#running = null;
      this.#keep(end);
      await running.sandbox[Symbol.asyncDispose]();
      if (restarts <= 0 || !(await this.#pause())) return;
      try {
        rmSync(this.#socket, { force: true });
        await this.#start(folder);
      } catch (error) {
        this.#lastEnd = messageOf(error);
        return;
      }
    }
  }

  async #pause(): Promise<boolean> {
    return sleep(pauseMs, true, { signal: this.#stopping.signal }).catch(() => false);
  }

  #keep(end: ProcessEnd): void {
    this.#ends += 1;
    this.#lastEnd = this.#endedEarly(end);
  }

  #endedEarly({ ending, exitCode, signal }: ProcessEnd): string {
    const how = ending === 'exited' ? (signal ?? `exit code ${exitCode}`) : ending.replaceAll('_', ' ');
    const printed = this.#printed.trim();
    const said = printed === '' ? 'It printed nothing.' : `It printed: ${printed}`;
    return `the service ${this.#name} ended too early (${how}). ${said}`;
  }
}
