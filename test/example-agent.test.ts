import { type FakeRunSettings, runAgent } from 'mlagentbench/testing';
import { expect, test } from 'vitest';
import { rewriter } from '../docs/how-to/write-an-agent/rewriter.ts';

const version = 'I raise the rate.\n```python\nlr = 0.2\n```\n';
const place: FakeRunSettings = {
  files: { 'train.py': 'lr = 0.1\n' },
  execute: () => ({ output: 'MAE: 3.5', writes: { 'submission.csv': 'id,y\n' } }),
};

test('writes and runs the scripts of the model, and submits when there are no more', async () => {
  const { taken, notes, finalAnswer } = await runAgent(rewriter, {
    ...place,
    replies: [version, 'Nothing is left to gain.'],
  });
  expect(taken.map(({ name, args }) => [name, ...Object.values(args)])).toEqual([
    ['Read File', 'train.py'],
    ['Execute Script', 'train.py'],
    ['Write File', 'train.py', 'lr = 0.2\n'],
    ['Execute Script', 'train.py'],
    ['Final Answer', finalAnswer],
  ]);
  expect(finalAnswer).toBe('train.py as it is; it ended as "ok".');
  expect(notes).toEqual([{ Idea: 'I raise the rate.' }]);
});

test('does not run a version that was cut off', async () => {
  const { taken } = await runAgent(rewriter, { ...place, replies: [{ text: version, finish: 'length' }] });
  expect(taken).toHaveLength(3);
});

test('writes at most as many versions as its option allows', async () => {
  const replies = [{ text: version, repeat: true }];
  const { asked } = await runAgent(rewriter, { ...place, replies, options: { rounds: 2 } });
  expect(asked).toHaveLength(2);
});

test('ends the run if its model declines', async () => {
  const { givenUp } = await runAgent(rewriter, { ...place, replies: [{ refused: 'no' }] });
  expect(givenUp).toEqual({ reason: 'refused', message: 'no' });
});

test('takes no step once the run has ended', async () => {
  const { taken, asked, late } = await runAgent(rewriter, { ...place, replies: [version], steps: 4 });
  expect([taken.length, asked.length, late]).toEqual([4, 1, 0]);
});
