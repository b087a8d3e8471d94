import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../test/fixtures/store/folders.ts';
import type { CallRecord } from '../models/index.ts';
import { Conversations, ObjectStore, readTraceSync, resolveText, TraceWriter } from '../store/index.ts';
import { CallRecorder } from './call-recorder.ts';

const nothing = {
  input: 0,
  cached_input: 0,
  cache_write: 0,
  output: 0,
  reasoning: 0,
  source: 'provider' as const,
};

/** A call of a program whose conversation has so many messages. */
function callWith(messages: number): CallRecord {
  const sent = Array.from({ length: messages }, (_, index) => ({
    role: 'user',
    content: `${index} ${'x'.repeat(600)}`,
  }));
  return {
    request: {
      role: 'agent',
      purpose: 'act',
      messages: sent.map(({ content }) => ({ role: 'user', text: content })),
    },
    settings: { model: 'a/b', temperature: null, max_output_tokens: 10 },
    ...{ answer: null, answeredBy: null, failure: null, latencyMs: 0, waitingMs: 0, attempts: [] },
    ...{ usage: nothing, cost: null },
    wire: {
      dialect: 'chat_completions',
      path: '/v1/chat/completions',
      status: 200,
      request: JSON.stringify({ messages: sent, tools: ['one', 'two'] }, null, 1),
      response: '{}',
    },
  };
}

test('bodies of programs are stored unchanged, and take no more of the trace late in a run than early', async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'trace.jsonl');
  const objects = new ObjectStore(join(folder.path, 'objects'));
  await using trace = TraceWriter.open(path, objects);
  const recorder = new CallRecorder(trace, {
    calls: 0,
    answered: 0,
    spent: { calls: 0, tokens: 0, money: 0, unpriced: 0 },
  });
  const sizes = Array.from({ length: 40 }, (_, index) => {
    recorder.record(callWith(2 * index + 1), { step: null, asked: 1 }, 0);
    return statSync(path).size;
  });
  const grown = (index: number) => (sizes[index] ?? 0) - (sizes[index - 1] ?? 0);
  expect(grown(39)).toBeLessThan(grown(2) * 1.1);
  const bodies = new Conversations();
  for (const [index, event] of readTraceSync(path).events.entries()) {
    if (event.kind !== 'model_call' || event.wire === undefined) throw new Error('a call without a body');
    const pieces = Array.from(bodies.of({ call: event.call, messages: event.wire.request }), (ref) =>
      resolveText(objects, ref),
    );
    expect(pieces.join('')).toBe(callWith(2 * index + 1).wire?.request);
  }
});
