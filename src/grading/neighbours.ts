import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { z } from 'zod';

/** In the kernel's tables, on all systems that we know. */
const ticksPerSecond = 100;
const Ticks = z.array(z.coerce.number().nonnegative());

/** Mark of a grade whose times were taken while other programs used the machine. */
export const sharedMachineCaveat = 'timed beside other work on the machine';

/** Whether others took more than half of the cores besides the one for timed code. */
export function isBesideOthers(busyCores: number | null, cores = availableParallelism()): boolean {
  return busyCores !== null && busyCores > Math.max(cores - 1, 0.5) / 2;
}

interface ProcessorTimes {
  /** Seconds by this process's clock. */
  at: number;
  /**
   * Processor time, in seconds: of the whole machine, with the time that other virtual machines took from it; and of
   * this process and its children.
   */
  machine: number;
  own: number;
}

/**
 * Starts to measure what other programs do on this machine, in whatever container they are.
 * @returns a function to call at the end: how many cores they kept busy on average; null if the system does not say (it
 *   is not Linux)
 */
export function watchNeighbours(): () => number | null {
  const before = processorTimes();
  return () => {
    const after = processorTimes();
    return before === null || after === null ? null : busyCores(before, after);
  };
}

/**
 * The whole time of children that started before and ended in between counts as our own, so the result may be too low.
 */
export function busyCores(before: ProcessorTimes, after: ProcessorTimes): number {
  const seconds = Math.max(after.at - before.at, 1e-3);
  return Math.max(0, (after.machine - before.machine - (after.own - before.own)) / seconds);
}

function processorTimes(): ProcessorTimes | null {
  try {
    const own = readFileSync('/proc/self/stat', 'utf8');
    return {
      at: performance.now() / 1000,
      machine: machineSeconds(readFileSync('/proc/stat', 'utf8')),
      own: ownSeconds(own),
    };
  } catch {
    return null;
  }
}

/**
 * All but idle time and waiting for disks, from the first line of /proc/stat (proc_stat(5)); guests are part of user
 * time.
 */
export function machineSeconds(text: string): number {
  const words = text.slice(0, text.indexOf('\n')).trim().split(/ +/).slice(1, 9);
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = Ticks.parse(words);
  return (user + nice + system + irq + softirq + steal) / ticksPerSecond;
}

/**
 * The 14th to 17th field of /proc/PID/stat (proc_pid_stat(5)); the second, a name in parentheses, may contain anything.
 */
export function ownSeconds(text: string): number {
  const words = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15);
  return (
    Ticks.length(4)
      .parse(words)
      .reduce((sum, ticks) => sum + ticks, 0) / ticksPerSecond
  );
}
