import { randomBytes } from 'node:crypto';
import type { ProcessEnd, Sandbox, SandboxProcess } from '../sandbox/index.ts';
import type { OutputStream } from './output-stream.ts';
import type { ReplAnswer } from './workbench.ts';

/** The agent's Python interpreter: one process in the sandbox, from its first command to its end. */
export class ReplSession {
  readonly #process: SandboxProcess;
  readonly #listener: { current: ((text: string) => void) | null };
  #isAlive = true;

  private constructor(process: SandboxProcess, listener: { current: ((text: string) => void) | null }) {
    this.#process = process;
    this.#listener = listener;
    void process.ended.then(() => {
      this.#isAlive = false;
    });
  }

  static async start(sandbox: Sandbox, script: string, signal: AbortSignal): Promise<ReplSession> {
    const listener: { current: ((text: string) => void) | null } = { current: null };
    const decoder = new TextDecoder();
    const process = await sandbox.start(['python', '-X', 'utf8', script], {
      stdin: 'pipe',
      onOutput: (chunk) => listener.current?.(decoder.decode(chunk, { stream: true })),
      timeoutMs: null,
      signal,
    });
    return new ReplSession(process, listener);
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Runs code until it is over, the interpreter ends, or `timeoutMs` have passed (which ends the interpreter). */
  async run(code: string, output: OutputStream, timeoutMs: number): Promise<ReplAnswer> {
    const token = randomBytes(16).toString('hex');
    const answered = this.#listen(token, output);
    this.#process.write(`${JSON.stringify({ end: token, code })}\n`);
    let timer: NodeJS.Timeout | undefined;
    const timeUp = new Promise<'time_up'>((resolve) => {
      timer = setTimeout(() => resolve('time_up'), timeoutMs);
    });
    const first = await Promise.race([answered, this.#process.ended, timeUp]);
    clearTimeout(timer);
    if (first === 'time_up') {
      const end: ProcessEnd = { ...(await this.#process.kill()), ending: 'timed_out', durationMs: timeoutMs };
      return { kind: 'ended', output: output.close(), end };
    }
    this.#listener.current = null;
    if (typeof first === 'string')
      return { kind: 'answered', output: output.close(), failed: first === 'failed' };
    return { kind: 'ended', output: output.close(), end: first };
  }

  async close(): Promise<void> {
    if (this.#isAlive) await this.#process.kill();
  }

  /** Passes the output on up to the line that ends the command. */
  #listen(token: string, output: OutputStream): Promise<'ok' | 'failed'> {
    return new Promise((resolve) => {
      const marker = `\n${token} `;
      const longestEnd = marker.length + 'failed\n'.length;
      let pending = '';
      this.#listener.current = (text) => {
        pending += text;
        const at = pending.indexOf(marker);
        const isComplete = at >= 0 && pending.indexOf('\n', at + marker.length) > 0;
        const sure = at >= 0 ? at : Math.max(0, pending.length - longestEnd);
        output.addText(pending.slice(0, sure));
        pending = pending.slice(sure);
        if (isComplete) resolve(pending.startsWith(`${marker}ok`) ? 'ok' : 'failed');
      };
    });
  }
}
