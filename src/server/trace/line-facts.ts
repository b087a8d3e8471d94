import { z } from 'zod';
import { parsedAs } from '../../lib/json-values.ts';
import { ActionStatus, BranchId, BranchOrigin } from '../../schema/index.ts';

const count = z.int().min(0);
const branch = BranchId.optional();

/** The fields of an event that the index keeps: a part of its schema, so that most of a line can be skipped. */
export const LineFacts = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('session_started'),
    time: z.int(),
    session: z.int(),
    seconds_used: z.number(),
  }),
  z.object({
    kind: z.literal('step_started'),
    branch,
    time: z.int(),
    step: z.int(),
    actor: z.string().optional(),
    action: z.string(),
  }),
  z.object({ kind: z.literal('output') }),
  z.object({ kind: z.literal('action_proposed'), branch, step: z.int(), action: z.string() }),
  z.object({
    kind: z.literal('action_decided'),
    branch,
    step: z.int(),
    replacement: z.object({ action: z.string() }).optional(),
  }),
  z.object({ kind: z.literal('branch_forked'), branch: BranchId, origin: BranchOrigin }),
  z.object({ kind: z.literal('branch_selected'), branch: BranchId }),
  z.object({
    kind: z.literal('step_finished'),
    branch,
    time: z.int(),
    step: z.int(),
    status: ActionStatus,
    duration_ms: z.number(),
    changed_count: count,
    budget: z.object({ seconds_used: z.number() }),
  }),
  z.object({
    kind: z.literal('model_call'),
    time: z.int(),
    call: count,
    step: z.int().nullable(),
    seconds_used: z.number().optional(),
    answer: z.unknown(),
    usage: z.object({ input: count, output: count, source: z.string() }),
    cost: z.number().nullable(),
    latency_ms: z.number(),
    waiting_ms: z.number(),
  }),
  z.object({ kind: z.literal('note'), entries: z.record(z.string(), z.unknown()) }),
  z.object({ kind: z.literal('run_ended'), time: z.int(), seconds_used: z.number() }),
]);
export type LineFacts = z.infer<typeof LineFacts>;

/** mlab begins every line with these, with a number, a time and a hash between them; then comes the kind. */
const [beforeNumber, beforeKind] = ['{"v":1,"seq":', '","kind":"'];
const hashPartBytes = ',"prev":"'.length + 64;
const comma = 0x2c;
const startedHead = /^step_started","step":(\d+),"action":"([\x20\x21\x23-\x5b\x5d-\x7e]*)",/;
const timeHead = /"time":(\d+)$/;
const headBytes = 400;
/** Inside a JSON string, quotes are escaped, so no text of an agent can look like this. */
const callMark = ',"usage":{"input":';
const callHead =
  /^model_call","call":(\d+),(?:"branch":"\w+",)?"step":(null|\d+),(?:"asked":\d+,)?(?:"seconds_used":([-+.\de]+),)?"role"/;
const callTail =
  /^,"usage":\{"input":(\d+),"cached_input":\d+,"cache_write":\d+,"output":(\d+),"reasoning":\d+,"source":"(\w+)"\},"cost":(null|[-+.\de]+),"latency_ms":([-+.\de]+),"waiting_ms":([-+.\de]+),/;

/** @returns null for a line that is not an event */
export function factsOf(line: Buffer): LineFacts | null {
  return quickFacts(line) ?? parsedAs(LineFacts, line.toString('utf8'));
}

const finishedHead = /^step_finished","step":(\d+),"status":"(\w+)","observation":/;
const finishedNumbers = ['},"duration_ms":', '],"changed_count":', ',"seconds_used":'] as const;

function quickFacts(line: Buffer): LineFacts | null {
  const timeEnd = line.indexOf(comma, line.indexOf(comma, beforeNumber.length) + 1);
  const kindAt = timeEnd + hashPartBytes + beforeKind.length;
  const begins = line.toString('latin1', timeEnd + hashPartBytes, kindAt + 7);
  if (begins === `${beforeKind}output"`) return { kind: 'output' };
  const [, timeText] = timeHead.exec(line.toString('latin1', 0, timeEnd)) ?? [];
  if (timeText === undefined) return null;
  const time = Number(timeText);
  if (begins === `${beforeKind}step_st`) return quickStart(line, time, kindAt);
  if (begins === `${beforeKind}step_fi`) return quickEnd(line, time, kindAt);
  if (begins !== `${beforeKind}model_c`) return null;
  const mark = line.lastIndexOf(callMark);
  return mark < 0 ? null : quickCall(line, time, kindAt, mark);
}

function quickStart(line: Buffer, time: number, kindAt: number): LineFacts | null {
  const [, step, action] = startedHead.exec(line.toString('latin1', kindAt, kindAt + headBytes)) ?? [];
  if (step === undefined || action === undefined) return null;
  return { kind: 'step_started', time, step: Number(step), action };
}

function quickEnd(line: Buffer, time: number, kindAt: number): LineFacts | null {
  const [, step, given] = finishedHead.exec(line.toString('latin1', kindAt, kindAt + 120)) ?? [];
  const status = ActionStatus.safeParse(given).data;
  const [duration_ms, changed_count, seconds_used] = finishedNumbers.map((mark) => numberAfter(line, mark));
  if (
    step === undefined ||
    status === undefined ||
    duration_ms == null ||
    changed_count == null ||
    seconds_used == null
  )
    return null;
  return {
    kind: 'step_finished',
    time,
    step: Number(step),
    status,
    duration_ms,
    changed_count,
    budget: { seconds_used },
  };
}

/** The number after the last of these marks, if there is one. */
function numberAfter(line: Buffer, mark: string): number | null {
  const at = line.lastIndexOf(mark);
  if (at < 0) return null;
  const begin = at + mark.length;
  const number = /^-?\d[-+.\deE]*(?=[,}])/.exec(line.toString('latin1', begin, begin + 40))?.[0];
  return number === undefined ? null : Number(number);
}

function quickCall(line: Buffer, time: number, kindAt: number, mark: number): LineFacts | null {
  const [, call, step, used] = callHead.exec(line.toString('latin1', kindAt, kindAt + headBytes)) ?? [];
  const [, input, output, source, cost, latency, waiting] =
    callTail.exec(line.toString('latin1', mark, mark + headBytes)) ?? [];
  if (call === undefined || step === undefined || input === undefined || output === undefined) return null;
  if (source === undefined || latency === undefined || waiting === undefined) return null;
  return {
    kind: 'model_call',
    time,
    call: Number(call),
    step: step === 'null' ? null : Number(step),
    ...(used === undefined ? {} : { seconds_used: Number(used) }),
    answer: line.includes(',"answer":null,') ? null : true,
    usage: { input: Number(input), output: Number(output), source },
    cost: cost === 'null' ? null : Number(cost),
    latency_ms: Number(latency),
    waiting_ms: Number(waiting),
  };
}
