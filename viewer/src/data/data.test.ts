import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Timeline } from '../../../src/schema/index.ts';
import { timeline } from '../test-timeline.ts';
import { joinedOutput, withOutput } from './live-output.ts';
import { withNewSteps } from './timeline-update.ts';

test('output that arrives in pieces, some of them twice, is joined as it was printed', () => {
  const pieces = fc.array(fc.tuple(fc.string({ maxLength: 9 }), fc.boolean()), {
    minLength: 1,
    maxLength: 20,
  });
  fc.assert(
    fc.property(pieces, (parts) => {
      let from = 0;
      let shown = null;
      for (const [text, twice] of parts) {
        for (let times = twice ? 2 : 1; times > 0; times--)
          shown = withOutput(shown, { step: 1, from, text });
        from += text.length;
      }
      expect(shown?.text).toBe(parts.map(([text]) => text).join(''));
    }),
  );
});

test('a line shows where output was missed, and later output continues after it', () => {
  const gap = joinedOutput({ from: 0, text: 'one' }, { from: 10, text: 'two' });
  expect(gap.text).toBe('one\n… 7 characters were missed …\ntwo');
  expect(joinedOutput(gap, { from: 13, text: ' three' }).text).toMatch(/two three$/);
});

test('output of another step starts empty', () => {
  expect(withOutput({ step: 1, from: 0, text: 'old' }, { step: 2, from: 0, text: 'new' }).text).toBe('new');
});

test('new steps replace those with the same numbers, and follow the others', () => {
  const old = timeline(['Read File', 'Execute Script'], ['ok', 'running']);
  const news: Timeline = {
    ...timeline(['Execute Script', 'Final Answer'], ['failed', 'ok']),
    from: 2,
    total: 3,
  };
  const joined = withNewSteps(old, news);
  expect(joined?.action.map((index) => joined.actions[index])).toEqual([
    'Read File',
    'Execute Script',
    'Final Answer',
  ]);
  expect(joined?.status.map((index) => joined.statuses[index])).toEqual(['ok', 'failed', 'ok']);
  expect(joined?.total).toBe(3);
});

test('a step whose end was missed does not stay running', () => {
  const old = timeline(['Read File', 'Execute Script'], ['ok', 'running']);
  expect(withNewSteps(old, { ...timeline(['Read File'], ['running']), from: 3, total: 3 })).toBeNull();
});

test('steps after a gap are not joined with those before it', () => {
  expect(
    withNewSteps(timeline(['Read File'], ['ok']), { ...timeline(['Read File'], ['ok']), from: 5 }),
  ).toBeNull();
});
