import { join } from 'node:path';
import type { Sandbox } from '../sandbox/index.ts';
import { outputFile } from '../store/index.ts';
import type { CommandOptions, CommandResult, ReplAnswer } from './action-context.ts';
import { OutputStream } from './output-stream.ts';
import { ReplSession } from './repl-session.ts';
import { type StepUsage, UsageMeter } from './usage-meter.ts';

/** Mount targets inside the sandbox. */
export const helpersInside = '/mlab';
export const briefInside = '/mlab-task/task.json';
/** Folder of the workspace with outputs too long for an observation. */
export const outputsName = '.outputs';

const newInterpreterNotice =
  '[a new interpreter: the one before has ended, and its variables are gone with it]';
const maxQuietCharacters = 4 * 2 ** 20;

export interface CommandRunnerOptions {
  sandbox: Sandbox;
  /** Host folder for outputs that are longer than an observation. */
  outputsFolder: string;
  onOutput: (step: number, text: string) => void;
  /** Called with the number of bytes written of a long output. */
  onStored: (bytes: number) => void;
  /** An earlier session's interpreter has ended, and its variables are lost. */
  interpreterLost: boolean;
  signal: AbortSignal;
}

/** Runs an agent's commands in the sandbox, each with a time limit, and keeps its interpreter running. */
export class CommandRunner {
  readonly #options: CommandRunnerOptions;
  readonly #meter = new UsageMeter();
  #repl: ReplSession | null = null;
  /** An interpreter ended, and the agent does not know yet. */
  #replLost: boolean;
  #hasRun = false;

  constructor(options: CommandRunnerOptions) {
    this.#options = options;
    this.#replLost = options.interpreterLost;
  }

  /** @param timeoutMs the command's process tree is ended after this time */
  async run(
    step: number,
    argv: readonly [string, ...string[]],
    timeoutMs: number,
    { quiet = false, input }: CommandOptions,
  ): Promise<CommandResult> {
    const output = quiet ? new QuietOutput() : this.#outputOf(step);
    const { sandbox, signal } = this.#options;
    this.#hasRun = true;
    const process = await sandbox.start(argv, {
      stdin: input === undefined ? 'none' : 'pipe',
      onOutput: (chunk) => output.add(chunk),
      timeoutMs,
      signal,
    });
    if (input !== undefined) {
      process.write(input);
      process.endInput();
    }
    const end = await process.ended;
    this.#meter.add(end);
    return { end, output: output.close() };
  }

  async helper(
    step: number,
    script: string,
    args: readonly string[],
    timeoutMs: number,
    options: CommandOptions,
  ) {
    const path = `${this.#options.sandbox.pathInside(helpersInside)}/${script}`;
    return this.run(step, ['python', '-I', path, ...args], timeoutMs, options);
  }

  async repl(step: number, code: string, timeoutMs: number): Promise<ReplAnswer> {
    const output = this.#outputOf(step);
    this.#hasRun = true;
    if (this.#repl !== null && !this.#repl.isAlive) {
      this.#replLost = true;
      this.#repl = null;
    }
    if (this.#replLost) output.addText(`${newInterpreterNotice}\n`);
    this.#replLost = false;
    this.#repl ??= await this.#startRepl();
    const answer = await this.#repl.run(code, output, timeoutMs);
    this.#meter.add(await this.#repl.usage());
    // The answer reports the end.
    if (answer.kind === 'ended') this.#repl = null;
    return answer;
  }

  /** The resources used since the last call. */
  takeUsage(): StepUsage {
    return this.#meter.take();
  }

  /**
   * Whether any command has run since the last call, or may still run: an interpreter, or what an unconfined command
   * left behind.
   */
  takeHasRun(): boolean {
    const hasRun = this.#hasRun;
    this.#hasRun = this.#repl !== null || (hasRun && this.#options.sandbox.driver === 'none');
    return hasRun;
  }

  async close(): Promise<void> {
    await this.#repl?.close();
  }

  #startRepl(): Promise<ReplSession> {
    const { sandbox, signal } = this.#options;
    return ReplSession.start(sandbox, `${sandbox.pathInside(helpersInside)}/repl.py`, signal);
  }

  #outputOf(step: number): OutputStream {
    const { outputsFolder, onOutput, onStored } = this.#options;
    const name = outputFile(step);
    return new OutputStream({
      onText: (text) => onOutput(step, text),
      whole: { file: join(outputsFolder, name), shown: `${outputsName}/${name}`, onStored },
    });
  }
}

/** Output that is data for the harness: neither shown nor cut in the middle, but bounded. */
class QuietOutput {
  readonly #decoder = new TextDecoder();
  #text = '';

  add(chunk: Buffer): void {
    if (this.#text.length < maxQuietCharacters) this.#text += this.#decoder.decode(chunk, { stream: true });
  }

  close(): string {
    return this.#text;
  }
}
