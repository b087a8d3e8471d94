import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FakeRunSettings, runAgent } from 'mlagentbench/testing';
import treeDepth from './tree-depth.ts';

/** Stands in for the task: a script that is best at a depth of 4, and takes ten seconds. */
const fakeTask: FakeRunSettings = {
  files: { 'train.py': 'MAX_DEPTH = None\n' },
  execute: (source) => {
    const depth = Number(/MAX_DEPTH = (\d+)/.exec(source)?.[1] ?? 30);
    const output = `validation RMSE: ${10 + Math.abs(depth - 4)}`;
    return { output, seconds: 10, writes: { 'submission.csv': source } };
  },
};

test('submits what the depth with the smallest error predicts', async () => {
  const { files, finalAnswer } = await runAgent(treeDepth, fakeTask);
  assert.equal(files.get('submission.csv'), 'MAX_DEPTH = 4\n');
  assert.equal(finalAnswer, 'The best validation error was 10.');
});

test('tries no tree deeper than its option allows', async () => {
  const { executed } = await runAgent(treeDepth, { ...fakeTask, options: { deepest: 2 } });
  assert.deepEqual(executed, ['MAX_DEPTH = None\n', 'MAX_DEPTH = 2\n', 'MAX_DEPTH = 2\n']);
});

test('does the same each time, so an interrupted run can be resumed', async () => {
  const [one, other] = [await runAgent(treeDepth, fakeTask), await runAgent(treeDepth, fakeTask)];
  assert.deepEqual(one.taken, other.taken);
});

test('keeps the starter if scripts print no score', async () => {
  const { files } = await runAgent(treeDepth, { ...fakeTask, execute: () => ({ output: 'Traceback' }) });
  assert.equal(files.get('train.py'), 'MAX_DEPTH = None\n');
});
