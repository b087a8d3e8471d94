import { z } from 'zod';

/** One thing that a validation agent tried, and what came of it. */
export interface Attempt {
  /** Such as "write over the task's data". */
  what: string;
  /** The path or method. */
  how: string;
  /**
   * - `stopped`: it met an error
   * - `judged`: it was performed, and gained nothing by what the harness found
   * - `got_through`: it reached what it must not reach
   * - `not_made`: it was planned and never reported
   */
  outcome: 'stopped' | 'judged' | 'got_through' | 'not_made';
  /** The error that it met, or what was found. */
  because: string;
}

const Reported = z.object({
  what: z.string(),
  how: z.string(),
  outcome: z.enum(['stopped', 'judged', 'got_through']),
  because: z.string(),
});

/** Collects what an adversarial agent tried: what its scripts say on lines of their own, and what it did by actions. */
export class AttemptLog {
  readonly #made: Attempt[] = [];
  readonly #planned: string[] = [];

  add(attempt: Attempt): void {
    this.#made.push(attempt);
  }

  /** Announces attempts, so that one that is never reported is missed. */
  plan(...what: string[]): void {
    this.#planned.push(...what);
  }

  /**
   * Reads the lines that `python/validation-agents/attempts.py` prints; other lines are passed over.
   * @returns what this output planned and did not report: its script was ended from outside
   */
  readOutput(output: string): string[] {
    const planned: string[] = [];
    const made = new Set<string>();
    for (const line of output.split('\n')) {
      const plan = marked('@plan', z.array(z.string()), line);
      if (plan !== null) planned.push(...plan);
      const attempt = marked('@attempt', Reported, line);
      if (attempt === null) continue;
      made.add(attempt.what);
      this.add(attempt);
    }
    this.plan(...planned);
    return planned.filter((what) => !made.has(what));
  }

  /** All attempts, those last that were planned and not made. An attempt counts once for each time it was planned. */
  get attempts(): Attempt[] {
    const open = new Map<string, number>();
    for (const what of this.#planned) open.set(what, (open.get(what) ?? 0) + 1);
    for (const { what } of this.#made) open.set(what, (open.get(what) ?? 0) - 1);
    const missing = [...open].flatMap(([what, count]) =>
      Array.from({ length: Math.max(0, count) }, () => what),
    );
    return [
      ...this.#made,
      ...missing.map(
        (what): Attempt => ({ what, how: '', outcome: 'not_made', because: 'it never reported' }),
      ),
    ];
  }
}

/** The JSON value on a line with this mark; null on any other line. */
export function marked<Schema extends z.ZodType>(
  mark: string,
  schema: Schema,
  line: string,
): z.infer<Schema> | null {
  if (!line.startsWith(`${mark} `)) return null;
  try {
    return schema.parse(JSON.parse(line.slice(mark.length + 1)));
  } catch {
    return null;
  }
}
