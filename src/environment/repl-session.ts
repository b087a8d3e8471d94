import { randomBytes } from 'node:crypto';
import type { ProcessEnd, ProcessUsage, Sandbox, SandboxProcess } from '../sandbox/index.ts';
import type { ReplAnswer } from './action-context.ts';
import type { OutputStream } from './output-stream.ts';

/** The limit for output that threads print between two commands, which is shown with the next command. */
const mostBetween = 20_000;

/** The agent's Python interpreter: one process in the sandbox, from its first command to its end. */
export class ReplSession {
  readonly #process: SandboxProcess;
  readonly #sink: Sink;
  #isAlive = true;
  #cpuSecondsReported = 0;

  private constructor(process: SandboxProcess, sink: Sink) {
    this.#process = process;
    this.#sink = sink;
    void process.ended.then(() => {
      this.#isAlive = false;
    });
  }

  static async start(sandbox: Sandbox, script: string, signal: AbortSignal): Promise<ReplSession> {
    const sink = new Sink();
    const decoder = new TextDecoder();
    const process = await sandbox.start(['python', '-X', 'utf8', script], {
      stdin: 'pipe',
      onOutput: (chunk) => sink.add(decoder.decode(chunk, { stream: true })),
      timeoutMs: null,
      signal,
    });
    return new ReplSession(process, sink);
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Runs code until it is done, the interpreter ends, or `timeoutMs` have passed (which ends the interpreter). */
  async run(code: string, output: OutputStream, timeoutMs: number): Promise<ReplAnswer> {
    // Only the harness knows it in advance, so earlier output can't imitate the end of this command.
    const token = randomBytes(16).toString('hex');
    const answered = this.#sink.listen(token, output);
    this.#process.write(`${JSON.stringify({ end: token, code })}\n`);
    let timer: NodeJS.Timeout | undefined;
    const timeUp = new Promise<'time_up'>((resolve) => {
      timer = setTimeout(() => resolve('time_up'), timeoutMs);
    });
    const first = await Promise.race([answered, this.#process.ended, timeUp]);
    clearTimeout(timer);
    const end = first === 'time_up' ? await this.#kill(timeoutMs) : first;
    this.#sink.unlisten();
    if (typeof end === 'string')
      return { kind: 'answered', output: output.close(), failed: end === 'failed' };
    return { kind: 'ended', output: output.close(), end };
  }

  /** The processor time since the last call; the peak memory since the interpreter began. */
  async usage(): Promise<ProcessUsage> {
    const { cpuSeconds, peakMemoryBytes } = await this.#process.usage();
    if (cpuSeconds === null) return { cpuSeconds, peakMemoryBytes };
    const since = Math.max(0, cpuSeconds - this.#cpuSecondsReported);
    this.#cpuSecondsReported = Math.max(cpuSeconds, this.#cpuSecondsReported);
    return { cpuSeconds: since, peakMemoryBytes };
  }

  async close(): Promise<void> {
    if (this.#isAlive) await this.#process.kill();
  }

  async #kill(durationMs: number): Promise<ProcessEnd> {
    return { ...(await this.#process.kill()), ending: 'timed_out', durationMs };
  }
}

/** Receives the interpreter's output and passes it to the current command, up to the line that ends it. */
class Sink {
  #listener: {
    endings: readonly Ending[];
    output: OutputStream;
    answer: (outcome: Ending['outcome']) => void;
  } | null = null;
  /** Held back: it could become an ending, or came between two commands. */
  #pending = '';
  /** Characters that came between two commands and were dropped. */
  #left = 0;

  listen(token: string, output: OutputStream): Promise<Ending['outcome']> {
    if (this.#left > 0)
      output.addText(`[${this.#left} characters that came between two commands are left out]\n`);
    this.#left = 0;
    return new Promise((answer) => {
      const endings = (['ok', 'failed'] as const).map((outcome) => ({
        outcome,
        text: `\n${token} ${outcome}\n`,
      }));
      this.#listener = { endings, output, answer };
      this.add('');
    });
  }

  /** Text that was held back as a possible ending is output after all. */
  unlisten(): void {
    if (this.#listener === null) return;
    this.#listener.output.addText(this.#pending);
    this.#pending = '';
    this.#listener = null;
  }

  add(text: string): void {
    const all = this.#pending + text;
    if (this.#listener === null) {
      this.#left += Math.max(0, all.length - mostBetween);
      this.#pending = all.slice(-mostBetween);
      return;
    }
    const { endings, output, answer } = this.#listener;
    const found = endings.find((ending) => all.includes(ending.text));
    if (found === undefined) {
      const at = startOfEnding(endings, all);
      output.addText(all.slice(0, at));
      this.#pending = all.slice(at);
      return;
    }
    const at = all.indexOf(found.text);
    output.addText(all.slice(0, at));
    this.#listener = null;
    this.#pending = '';
    this.add(all.slice(at + found.text.length));
    answer(found.outcome);
  }
}

/** The line that the interpreter's first process prints at the end of a command. */
interface Ending {
  outcome: 'ok' | 'failed';
  text: string;
}

/** Where an ending could begin if more text comes; otherwise the end of the text. */
function startOfEnding(endings: readonly Ending[], text: string): number {
  const longest = Math.max(...endings.map((ending) => ending.text.length));
  for (let at = Math.max(0, text.length - longest); at < text.length; at += 1)
    if (endings.some((ending) => ending.text.startsWith(text.slice(at)))) return at;
  return text.length;
}
