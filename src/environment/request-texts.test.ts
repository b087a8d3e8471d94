import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ModelMessage, type ModelRequest } from '../schema/index.ts';
import { normalRequest, requestHash } from './request-hash.ts';
import { RequestTexts } from './request-texts.ts';

const text = fc.oneof(fc.constantFrom('a', 'b', ''), fc.string({ unit: 'binary' }));
const stable = fc.constantFrom(true, false, undefined);
const calls = fc.array(fc.record({ id: text, name: text, input: fc.jsonValue() }), { maxLength: 2 });
const message = fc
  .oneof(
    fc.record({ role: fc.constantFrom('system', 'user'), text, stable }),
    fc.record(
      { role: fc.constant('assistant'), text, tool_calls: calls, provider: fc.jsonValue() },
      { requiredKeys: ['role', 'text'] },
    ),
    fc.record({ role: fc.constant('tool'), text, call_id: text, name: text, stable }),
  )
  .map((drawn) => ModelMessage.parse(JSON.parse(JSON.stringify(drawn))));

/** How a conversation continues: its first messages stay, one is changed, others follow. */
const turn = fc.record({
  kept: fc.nat(8),
  change: fc.option(fc.record({ at: fc.nat(8), message })),
  added: fc.array(message, { minLength: 1, maxLength: 3 }),
  role: fc.constantFrom('agent', 'fast'),
  purpose: fc.constantFrom('act', 'reflect'),
  stop: fc.constantFrom<string[] | undefined>(undefined, [], ['END']),
});

test('texts and hashes are those of the whole request, however conversations continue', () => {
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 12 }), (turns) => {
      const known = new RequestTexts();
      let messages: ModelMessage[] = [];
      for (const { kept, change, added, role, purpose, stop } of turns) {
        messages = [...messages.slice(0, kept), ...added];
        if (change !== null && change.at < messages.length) messages[change.at] = change.message;
        const asked: ModelRequest = { role, purpose, messages, ...(stop === undefined ? {} : { stop }) };
        const request = normalRequest(asked);
        const { texts, hash } = known.of(request, purpose);
        expect(texts).toEqual(messages.map((one) => JSON.stringify(one)));
        expect(hash).toBe(requestHash(request));
      }
    }),
    { numRuns: 500 },
  );
});
