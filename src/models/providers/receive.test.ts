import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { ProviderStream } from './provider-model.ts';
import { receiveStream } from './receive.ts';

type Part = ProviderStream extends ReadableStream<infer Each> ? Each : never;

it('a long reply that arrives at once does not block the event loop', async () => {
  const pieces = 2000;
  const parts: Part[] = [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: '1' },
    ...Array.from({ length: pieces }, (): Part => ({ type: 'text-delta', id: '1', delta: 'word ' })),
    { type: 'text-end', id: '1' },
    {
      type: 'finish',
      finishReason: { unified: 'stop', raw: 'stop' },
      usage: {
        inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 1, text: 1, reasoning: 0 },
      },
    },
  ];
  let turns = 0;
  let isOver = false;
  const others = (async () => {
    for (; !isOver; turns++) await nextTurn();
  })();
  const { content } = await receiveStream(ReadableStream.from(parts));
  isOver = true;
  await others;
  expect(content).toEqual([{ type: 'text', text: 'word '.repeat(pieces) }]);
  expect(turns).toBeGreaterThan(pieces / 50);
});
