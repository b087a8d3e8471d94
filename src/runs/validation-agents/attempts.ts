import { z } from 'zod';

/** One thing that a validation agent attempted, and its result. */
export interface ValidationAttempt {
  /** Such as "write over the task's data". */
  what: string;
  /** The path or method. */
  how: string;
  /**
   * - `stopped`: it met an error
   * - `judged`: it was performed, but gained nothing according to the harness
   * - `got_through`: it reached something forbidden
   * - `not_made`: it was planned but never reported
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

/** Collects the attempts of an adversarial agent: those that its scripts report on separate lines, and its actions. */
export class AttemptLog {
  readonly #made: ValidationAttempt[] = [];
  readonly #planned: string[] = [];

  add(attempt: ValidationAttempt): void {
    this.#made.push(attempt);
  }

  /** Announces attempts, so that one that is never reported is noticed. */
  plan(...what: string[]): void {
    this.#planned.push(...what);
  }

  /**
   * Reads the lines that `python/validation-agents/attempts.py` prints; other lines are ignored.
   * @returns what this output planned but did not report: its script was ended from outside
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

  /**
   * All attempts; those that were planned but not made come last. An attempt counts once for each time it was planned.
   */
  get attempts(): ValidationAttempt[] {
    const open = new Map<string, number>();
    for (const what of this.#planned) open.set(what, (open.get(what) ?? 0) + 1);
    for (const { what } of this.#made) open.set(what, (open.get(what) ?? 0) - 1);
    const missing = [...open].flatMap(([what, count]) =>
      Array.from({ length: Math.max(0, count) }, () => what),
    );
    return [
      ...this.#made,
      ...missing.map(
        (what): ValidationAttempt => ({ what, how: '', outcome: 'not_made', because: 'it never reported' }),
      ),
    ];
  }
}

/** The JSON value on a line with this mark; null for any other line. */
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
