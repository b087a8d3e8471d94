import { z } from 'zod';

/** Milliseconds since 1970. Beyond these bounds there is no valid date, and formatting one fails. */
export const Time = z.int().min(-8.64e15).max(8.64e15);
export type Time = z.infer<typeof Time>;
