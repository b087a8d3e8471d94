import { z } from 'zod';
import { UserError } from '../../lib/errors.ts';
import { ModelAnswer, ModelMessage, type TextRef, type TraceEventOf } from '../../schema/index.ts';
import {
  Conversations,
  parseStoredText,
  type RunFolder,
  readTraceSync,
  resolveText,
  spentOf,
} from '../../store/index.ts';
import { locateRun, stepArgument } from '../locate.ts';
import { snapshotOfStep } from '../run-steps.ts';
import { dollars, duration, number, oneLine, plain, table } from '../table.ts';
import type { Verb } from '../verb.ts';

interface Options {
  call?: string;
  wire?: boolean;
}

type Call = TraceEventOf<'model_call'>;

export const runsCalls: Verb = {
  onlyReads: true,
  arguments: [stepArgument],
  flags: [
    { flags: '--call <n>', description: 'one call in full: its messages and the answer' },
    { flags: '--wire', description: 'with --call: the raw request and response' },
  ],
  details:
    'Token counts are those of the provider; ≈ marks estimates where the provider gave none. Waiting is time in queues, between\n' +
    'attempts and in failed attempts.',
  examples: [
    ['mlab runs calls start-1/digits-tools-0', 'one line per model call'],
    ['mlab runs calls start-1/digits-tools-0 --call 3', 'messages and answer of the third call'],
    ['mlab runs calls start-1/digits-codex-0 --call 3 --wire', 'its raw request and response'],
  ],
  async run(context, [given = ''], options: Options) {
    const { folder, step } = locateRun(context, given, { withSteps: true });
    const events = folder.readRecord() === null ? [] : readTraceSync(folder.tracePath).events;
    const all = events.filter((event) => event.kind === 'model_call');
    const wanted = step === null ? null : snapshotOfStep(folder, step).number;
    if (options.call === undefined) {
      const calls = all.filter((call) => wanted === null || call.step === wanted);
      return { text: callsTable(calls), json: { run: folder.id, spent: spentOf(events), calls } };
    }
    const conversations = new Conversations();
    const bodies = new Conversations();
    for (const call of all) {
      const conversation = conversations.of(call);
      const body = call.wire && bodies.of({ call: call.call, messages: call.wire.request });
      if (String(call.call) !== options.call) continue;
      return options.wire === true ? wireOf(folder, call, body) : wholeCall(folder, call, conversation);
    }
    throw new UserError(
      'unknown_call',
      `There is no model call ${options.call}.`,
      `The run has ${all.length} model calls.`,
    );
  },
};

function callsTable(calls: readonly Call[]): string {
  if (calls.length === 0) return 'This run made no model calls.';
  const right = 'right' as const;
  return table(
    [
      { title: 'call', align: right },
      { title: 'step', align: right },
      { title: 'role' },
      { title: 'for' },
      { title: 'model' },
      { title: 'read', align: right },
      { title: 'cached', align: right },
      { title: 'written', align: right },
      { title: 'cost', align: right },
      { title: 'time', align: right },
      { title: 'waited', align: right },
      { title: 'tries', align: right },
      { title: 'failure' },
    ],
    calls.map((call) => [
      String(call.call),
      call.step === null ? '–' : String(call.step),
      call.role,
      oneLine(call.purpose, 30),
      call.model,
      approximately(call, number(call.usage.input)),
      number(call.usage.cached_input),
      approximately(call, number(call.usage.output)),
      approximately(call, dollars(call.cost)),
      duration(call.latency_ms / 1000),
      duration(call.waiting_ms / 1000),
      // A program's own retries are calls of their own.
      String(Math.max(1, call.attempts.length + (call.answer === null ? 0 : 1))),
      call.failure === null ? '' : oneLine(`${call.failure.failure}: ${call.failure.message}`, 60),
    ]),
  );
}

/** Calls that got no answer and cost nothing have no numbers to estimate. */
function approximately({ usage }: Call, text: string): string {
  return usage.source === 'estimate' && usage.input > 0 && text !== '–' ? `≈ ${text}` : text;
}

function wholeCall(folder: RunFolder, call: Call, conversation: Iterable<TextRef>) {
  const textOf = (ref: TextRef) => resolveText(folder.objects, ref);
  const read = <Schema extends z.ZodType>(schema: Schema, ref: TextRef, what: string) =>
    parseStoredText(schema, textOf(ref), `${what} of model call ${call.call}`);
  const messages = Array.from(conversation, (ref) => read(ModelMessage, ref, 'a message'));
  const answer = call.answer === null ? null : read(ModelAnswer, call.answer, 'the answer');
  const tools = call.tools === null ? null : read(z.unknown(), call.tools, 'the list of tools');
  const asked = messages.map((message) => `── ${message.role}\n${messageText(message)}`);
  return {
    text: [...asked, `── answer\n${answerText(call, answer)}`].join('\n\n'),
    json: { ...call, messages, tools, answer },
  };
}

function wireOf(folder: RunFolder, { call, wire }: Call, body: Iterable<TextRef> | undefined) {
  if (wire === undefined || body === undefined)
    throw new UserError(
      'no_wire',
      `Model call ${call} has no raw request: it was not made by a program that speaks a provider's dialect.`,
      'Leave out --wire.',
    );
  const request = Array.from(body, (ref) => resolveText(folder.objects, ref)).join('');
  const response = resolveText(folder.objects, wire.response);
  const { dialect, path, status } = wire;
  const head = `${dialect} ${path}, ${status === null ? 'not answered' : `status ${status}`}`;
  return {
    text: [head, `── request\n${plain(request)}`, `── response\n${plain(response)}`].join('\n\n'),
    json: { call, dialect, path, status, request, response },
  };
}

function messageText(message: ModelMessage): string {
  const calls = message.role === 'assistant' ? (message.tool_calls ?? []) : [];
  return [plain(message.text), ...calls.map(toolCallText)].filter((part) => part !== '').join('\n');
}

function answerText({ failure }: Call, answer: ModelAnswer | null): string {
  if (answer === null) return `none (${failure?.failure}): ${plain(failure?.message ?? '')}`;
  if (answer.kind !== 'answered') return `${answer.kind}: ${plain(answer.message)}`;
  const cut = answer.finish === 'length' ? ['[cut off at the limit of tokens]'] : [];
  return [plain(answer.text), ...answer.tool_calls.map(toolCallText), ...cut]
    .filter((part) => part !== '')
    .join('\n');
}

function toolCallText({ name, input }: { name: string; input: unknown }): string {
  return plain(`→ ${name} ${JSON.stringify(input)}`);
}
