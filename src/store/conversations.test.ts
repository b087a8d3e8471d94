import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { modelCall } from '../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../test/fixtures/store/folders.ts';
import type { EventOf } from '../schema/index.ts';
import { ConversationRecorder } from './conversation-recorder.ts';
import { Conversations } from './conversations.ts';
import { ObjectStore } from './object-store.ts';
import { readTraceSync, resolveText } from './trace-reader.ts';
import { TraceWriter } from './trace-writer.ts';

interface Change {
  thread: string;
  repeated: boolean;
  forgotten: number[];
  replaced: [place: number, text: string][];
  added: string[];
}
/** How an agent changes the messages of its last call: it keeps, drops and replaces some, and adds others. */
const change: fc.Arbitrary<Change> = fc.record({
  thread: fc.constantFrom('agent act', 'fast summarise'),
  repeated: fc.boolean(),
  forgotten: fc.array(fc.nat(6), { maxLength: 2 }),
  replaced: fc.array(fc.tuple(fc.nat(6), fc.string()), { maxLength: 2 }),
  added: fc.array(fc.oneof(fc.constantFrom('a', 'b'), fc.string({ maxLength: 2000 })), { maxLength: 4 }),
});

function changed(texts: readonly string[], { forgotten, replaced, added }: Change) {
  const kept = texts.map((text, index) => replaced.find(([place]) => place === index)?.[1] ?? text);
  return [...kept.filter((_, index) => !forgotten.includes(index)), ...added].map((text) =>
    text.toWellFormed(),
  );
}

describe('conversations in a trace', () => {
  test('are read as they were sent, whatever agents remove and insert, and however often the run is resumed', async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, 'trace.jsonl');
    const objects = new ObjectStore(join(folder.path, 'objects'));
    let number = 0;
    await using trace = TraceWriter.open(path, objects);
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (changes) => {
        let recorder = new ConversationRecorder();
        const last: Record<string, string[]> = {};
        const sent = new Map<number, string[]>();
        const first = trace.head.events;
        for (const one of changes) {
          const texts = changed(last[one.thread] ?? [], one);
          last[one.thread] = texts;
          number += 1;
          sent.set(number, texts);
          const messages = recorder.record(one.thread, number, texts, (text) => trace.textRef(text));
          trace.append(modelCall(number, { messages }));
          if (!one.repeated) continue;
          // Another session knows only the call that the resumed run repeats.
          recorder = new ConversationRecorder();
          recorder.remember(one.thread, number, texts);
        }
        const conversations = new Conversations();
        for (const event of readTraceSync(path).events.slice(first)) {
          if (event.kind !== 'model_call') continue;
          const conversation = conversations.of(event);
          const texts = Array.from(conversation, (ref) => resolveText(objects, ref));
          expect(texts).toEqual(sent.get(event.call));
          expect(conversation.length).toBe(texts.length);
        }
      }),
      { numRuns: 50 },
    );
  });

  test('take as many bytes per call at the end of a long run as at its beginning, also when they are shortened', () => {
    const recorder = new ConversationRecorder();
    const bytes: number[] = [];
    let texts = ['system', 'task'];
    for (let call = 1; call <= 2000; call++) {
      const messages = recorder.record('agent act', call, texts, (text) => ({ text }));
      bytes.push(JSON.stringify(messages).length);
      texts = [...texts, `reply ${1e6 + call}`, `result ${1e6 + call}`];
      // Old turns are dropped, and a note says so.
      if (texts.length > 200)
        texts = [...texts.slice(0, 2), `forgot until ${1e6 + call}`, ...texts.slice(100)];
    }
    const mean = (from: number, to: number) =>
      bytes.slice(from, to).reduce((sum, one) => sum + one, 0) / (to - from);
    expect(mean(1900, 2000) / mean(50, 150)).toBeLessThan(1.1);
  });

  test('whose earlier call is missing are reported, with the number of the call', () => {
    const messages: EventOf<'model_call'>['messages'] = [{ call: 1, from: 0, count: 3 }];
    expect(() => new Conversations().of({ call: 2, messages })).toThrow(
      'model call 2 refers to messages 1 to 3 of call 1, which the trace does not contain',
    );
  });

  test('of a very long run are read without recursion', () => {
    const conversations = new Conversations();
    let conversation = conversations.of({ call: 1, messages: [{ text: '1' }] });
    for (let call = 2; call <= 50_000; call++) {
      const messages = [{ call: call - 1, from: 0, count: call - 1 }, { text: String(call) }];
      conversation = conversations.of({ call, messages });
    }
    expect([...conversation].length).toBe(50_000);
  });
});

test('an event that refers to an earlier call has version 2, others keep their version', async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'trace.jsonl');
  await using trace = TraceWriter.open(path, new ObjectStore(join(folder.path, 'objects')));
  trace.append(modelCall(1));
  trace.append(modelCall(2, { messages: [{ call: 1, from: 0, count: 1 }] }));
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).v)).toEqual([1, 2]);
});

test('conversations that keep doubling are refused before they get too large', () => {
  const conversations = new Conversations();
  conversations.of(modelCall(1, { messages: [{ text: '"a"' }] }));
  const double = (call: number) => {
    const before = { call: call - 1, from: 0, count: 2 ** (call - 2) };
    return conversations.of(modelCall(call, { messages: [before, before] }));
  };
  for (let call = 2; call <= 17; call += 1) expect(Array.from(double(call)).length).toBe(2 ** (call - 1));
  expect(() => double(18)).toThrow(/model call 18 has more than 100000 messages/);
});
