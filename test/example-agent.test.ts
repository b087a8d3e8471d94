import { expect, test } from 'vitest';
import { rewriter } from '../docs/how-to/write-an-agent/rewriter.ts';
import { answered, deedsOf, inTurn, runInMemory } from './fixtures/model-agents.ts';

const version = 'I raise the rate.\n```python\nlr = 0.2\n```\n';

test('writes and runs what the model gives, and hands in when it gives nothing more', async () => {
  const environment = await runInMemory(rewriter, inTurn(version, 'Nothing is left to gain.'));
  expect(deedsOf(environment)).toEqual([
    ['Read File', 'train.py'],
    ['Execute Script', 'train.py'],
    ['Write File', 'train.py', 'lr = 0.2\n'],
    ['Execute Script', 'train.py'],
    ['Final Answer', 'train.py as it is; it ended as "ok".'],
  ]);
  expect(environment.notes).toEqual([{ Idea: 'I raise the rate.' }]);
});

test('runs no version that was cut off', async () => {
  const cut = answered({ text: version, finish: 'length' });
  expect(deedsOf(await runInMemory(rewriter, inTurn(cut)))).toHaveLength(3);
});

test('writes no more versions than its option says', async () => {
  const environment = await runInMemory(rewriter, inTurn(version), { options: { rounds: 2 } });
  expect(environment.asked).toHaveLength(2);
});

test('ends the run where its model declines', async () => {
  const environment = await runInMemory(rewriter, inTurn({ kind: 'refused', message: 'no' }));
  expect(environment.givenUp).toEqual({ reason: 'refused', message: 'no' });
});

test('takes no step once the run has ended', async () => {
  const environment = await runInMemory(rewriter, inTurn(version), { steps: 4 });
  expect([environment.taken.length, environment.asked.length, environment.late]).toEqual([4, 1, 0]);
});
