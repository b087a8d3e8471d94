import { z } from 'zod';
import { ActionStatus } from '../../schema/index.ts';

const count = z.int().min(0);

/** What an index keeps of an event: a part of its schema, so that most of a line need not be looked at. */
export const LineFacts = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('session_started'), session: z.int() }),
  z.object({ kind: z.literal('step_started'), time: z.int(), step: z.int(), action: z.string() }),
  z.object({ kind: z.literal('output') }),
  z.object({
    kind: z.literal('step_finished'),
    step: z.int(),
    status: ActionStatus,
    duration_ms: z.number(),
    changed_count: count,
    budget: z.object({ seconds_used: z.number() }),
  }),
  z.object({
    kind: z.literal('model_call'),
    answer: z.unknown(),
    usage: z.object({ input: count, output: count }),
    cost: z.number().nullable(),
  }),
  z.object({ kind: z.literal('note'), entries: z.record(z.string(), z.unknown()) }),
  z.object({ kind: z.literal('run_ended') }),
]);
export type LineFacts = z.infer<typeof LineFacts>;

/** How mlab begins a line; the parts that an index needs of most events stand right behind it. */
const head =
  /^\{"v":1,"seq":\d+,"time":(\d+),"prev":"[0-9a-f]{64}","kind":"(?:(output)"|step_started","step":(\d+),"action":"([^"\\]*)",)/;
const headBytes = 400;
/** An unescaped quote can't stand inside a text of JSON, so that nothing an agent writes looks like this. */
const callMark = ',"usage":{"input":';
const callTail =
  /^,"usage":\{"input":(\d+),"cached_input":\d+,"cache_write":\d+,"output":(\d+),"reasoning":\d+,"source":"\w+"\},"cost":(null|[-+.\de]+),/;

/** @returns null for a line that is no event */
export function factsOf(line: Buffer): LineFacts | null {
  return quickFacts(line) ?? parsedFacts(line);
}

function quickFacts(line: Buffer): LineFacts | null {
  const [, time, output, step, action] = head.exec(line.toString('latin1', 0, headBytes)) ?? [];
  if (output !== undefined) return { kind: 'output' };
  if (step !== undefined && action !== undefined && isAscii(action))
    return { kind: 'step_started', time: Number(time), step: Number(step), action };
  const mark = line.lastIndexOf(callMark);
  return mark < 0 ? null : quickCall(line, mark);
}

function quickCall(line: Buffer, mark: number): LineFacts | null {
  const [, input, output, cost] = callTail.exec(line.toString('latin1', mark, mark + headBytes)) ?? [];
  if (input === undefined || output === undefined) return null;
  return {
    kind: 'model_call',
    answer: line.includes(',"answer":null,') ? null : true,
    usage: { input: Number(input), output: Number(output) },
    cost: cost === 'null' ? null : Number(cost),
  };
}

function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

function parsedFacts(line: Buffer): LineFacts | null {
  try {
    return LineFacts.safeParse(JSON.parse(line.toString('utf8'))).data ?? null;
  } catch {
    return null;
  }
}
