import { z } from 'zod';
import type { Fault } from './attempt.ts';

export const WorkerJob = z.object({
  targets: z.array(z.object({ name: z.string(), seconds: z.number(), seed: z.number() })),
  /** A folder that the owner of the thread removes. */
  scratch: z.string(),
  shared: z.instanceof(SharedArrayBuffer),
});
export type WorkerJob = z.infer<typeof WorkerJob>;

export type FromWorker =
  | { kind: 'begun'; target: string }
  | { kind: 'found'; target: string; fault: Fault; input: Uint8Array }
  | {
      kind: 'ended';
      target: string;
      executions: number;
      covered: number;
      corpus: { content: Uint8Array; covered: ReadonlySet<string> }[];
    };
