import type { z } from 'zod';

/**
 * A value read from Redis, or null if it is not in the expected form: other writers, or another version, must not crash
 * a command.
 */
export function told<Value>(schema: z.ZodType<Value>, text: string): Value | null {
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
