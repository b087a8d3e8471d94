import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { Aim } from './marks.ts';

/** The instructions for a process that executes runs, as one line. */
export const Work = z.object({
  /** Its folder, which contains the plan. */
  experiment: z.string(),
  /** For a fork: the experiment of its parent. */
  parent: z.string().nullable(),
  /** Whether every action is decided on in the process. */
  gated: z.boolean(),
  /** Marks of what is done already. */
  known: z.array(z.string()),
  aim: Aim.nullable(),
});
export type Work = z.infer<typeof Work>;

/** One process that executed a run, as seen from outside. */
export interface Life {
  pid: number;
  /** `branch:number` of steps that it had reported as finished. */
  finished: string[];
  /** What it was doing at its end. */
  doing: string[];
  /** `done`: it ended by itself and successfully. */
  end: 'killed' | 'done' | 'failed';
  /** Its standard error. */
  complaint: string;
  /** Since it got its instructions. */
  milliseconds: number;
}

/** A prepared process that waits for instructions. */
export interface Standby {
  /** @param killAfter milliseconds until kill -9; null: at an aimed moment, or never */
  live(work: Work, killAfter: number | null): Promise<Life>;
  /** Ends it without any work. */
  dismiss(): Promise<void>;
}

export function standBy(cache: string, variables: NodeJS.ProcessEnv, signal: AbortSignal): Standby {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../children/work.ts'), cache], {
    ...{ stdio: ['pipe', 'pipe', 'pipe'], killSignal: 'SIGKILL', signal, env: variables },
  });
  const complaint = text(child.stderr);
  const heard = new Heard(child);
  const closed = once(child, 'close', { signal });
  return {
    async live(work, killAfter) {
      child.stdin.end(`${JSON.stringify(work)}\n`);
      await heard.going;
      const start = performance.now();
      const timer = killAfter === null ? null : setTimeout(() => child.kill('SIGKILL'), killAfter);
      await closed;
      if (timer !== null) clearTimeout(timer);
      const end = child.signalCode === 'SIGKILL' ? 'killed' : child.exitCode === 0 ? 'done' : 'failed';
      return {
        ...{ pid: child.pid ?? 0, finished: heard.finished, doing: [...heard.open], end },
        ...{ complaint: await complaint, milliseconds: performance.now() - start },
      };
    },
    async dismiss() {
      child.kill('SIGKILL');
      await closed;
    },
  };
}

/** The reports of a process. A line that the kill truncated does not count. */
class Heard {
  readonly finished: string[] = [];
  readonly open = new Set<string>();
  /** Resolves when it has begun its work. */
  readonly going: Promise<void>;

  constructor({ stdout }: ChildProcess) {
    if (stdout === null) throw new Error('standard output is a pipe');
    let go = () => {};
    this.going = new Promise((resolve) => {
      go = resolve;
    });
    const lines = createInterface({ input: stdout });
    lines.on('line', (line) => {
      const [word = '', ...rest] = line.split(' ');
      const name = rest.join(' ');
      if (word === 'go') go();
      if (word === 'finished') this.finished.push(name);
      if (word === 'begin') this.open.add(name);
      if (word === 'end') this.open.delete(name);
    });
    lines.once('close', go);
  }
}
