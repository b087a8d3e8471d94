import { randomBytes } from 'node:crypto';
import type { ProcessEnd, ProcessUsage, Sandbox, SandboxProcess } from '../sandbox/index.ts';
import type { OutputStream } from './output-stream.ts';
import type { ReplAnswer } from './workbench.ts';

/** What may be printed between two commands, by threads, and is shown with the next. */
const mostBetween = 20_000;

/** The agent's Python interpreter: one process in the sandbox, from its first command to its end. */
export class ReplSession {
  readonly #process: SandboxProcess;
  readonly #sink: Sink;
  #isAlive = true;
  #cpuSecondsTold = 0;

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

  /** Runs code until it is over, the interpreter ends, or `timeoutMs` have passed (which ends the interpreter). */
  async run(code: string, output: OutputStream, timeoutMs: number): Promise<ReplAnswer> {
    // Only the harness knows it beforehand: nothing that was printed earlier can pass for the end of this command.
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

  /** The processor time since this was last asked; the highest memory since it began. */
  async usage(): Promise<ProcessUsage> {
    const { cpuSeconds, peakMemoryBytes } = await this.#process.usage();
    if (cpuSeconds === null) return { cpuSeconds, peakMemoryBytes };
    const since = Math.max(0, cpuSeconds - this.#cpuSecondsTold);
    this.#cpuSecondsTold = Math.max(cpuSeconds, this.#cpuSecondsTold);
    return { cpuSeconds: since, peakMemoryBytes };
  }

  async close(): Promise<void> {
    if (this.#isAlive) await this.#process.kill();
  }

  async #kill(durationMs: number): Promise<ProcessEnd> {
    return { ...(await this.#process.kill()), ending: 'timed_out', durationMs };
  }
}

/** Where the interpreter's output goes: to the command under way, up to the line that ends it. */
class Sink {
  #listener: { marker: string; output: OutputStream; answer: (outcome: 'ok' | 'failed') => void } | null =
    null;
  #pending = '';

  listen(token: string, output: OutputStream): Promise<'ok' | 'failed'> {
    return new Promise((answer) => {
      this.#listener = { marker: `\n${token} `, output, answer };
      this.add('');
    });
  }

  /** What was held back because it could have become the marker is output after all. */
  unlisten(): void {
    if (this.#listener === null) return;
    this.#listener.output.addText(this.#pending);
    this.#pending = '';
    this.#listener = null;
  }

  add(text: string): void {
    this.#pending += text;
    if (this.#listener === null) {
      this.#pending = this.#pending.slice(-mostBetween);
      return;
    }
    const { marker, output, answer } = this.#listener;
    const at = startOf(marker, this.#pending);
    output.addText(this.#pending.slice(0, at));
    this.#pending = this.#pending.slice(at);
    const lineEnd = this.#pending.indexOf('\n', marker.length);
    if (lineEnd < 0) return;
    const outcome = this.#pending.startsWith(`${marker}ok`) ? 'ok' : 'failed';
    this.#pending = this.#pending.slice(lineEnd + 1);
    this.#listener = null;
    answer(outcome);
  }
}

/** Where the marker begins, or could begin if more comes; else the end of the text. */
function startOf(marker: string, text: string): number {
  const whole = text.indexOf(marker);
  if (whole >= 0) return whole;
  for (let at = text.lastIndexOf('\n'); at >= 0 && text.length - at < marker.length; ) {
    if (marker.startsWith(text.slice(at))) return at;
    if (at === 0) break;
    at = text.lastIndexOf('\n', at - 1);
  }
  return text.length;
}
