import type { z } from 'zod';

/** What stands in Redis, if it is what is expected there: whoever else writes to it, or another version, ends no command. */
export function told<Value>(schema: z.ZodType<Value>, text: string): Value | null {
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
