import { join } from 'node:path';
import { expect } from 'vitest';
import { TaskBench } from '../../test/fixtures/fixture-task.ts';
import { mlab } from '../../test/fixtures/mlab-process.ts';
import { testInSandbox } from '../../test/fixtures/needs-sandbox.ts';

testInSandbox('mlab run says where the starter code of a task fails by itself', async () => {
  using bench = new TaskBench();
  const tasks = bench.copyTask('broken', {
    'env/train.py': 'print("begins")\nraise ValueError("no column x")\n',
  });
  const place = { folder: bench.folder, variables: { MLAB_CACHE: join(bench.folder, 'cache') } };
  const argv = ['run', '--task-dir', tasks, '--task', 'sums', '--agent', 'baseline', '--name', 'crashing'];
  const { out } = await mlab(argv, place);
  expect(out).toMatch(/starter code of the task fails by itself:\n {2}sums \(in crashing\/sums-baseline-0\)/);
  expect(out).toContain('ValueError: no column x');
});

testInSandbox('mlab run blames the time limit, not the task, if the starter exceeds it', async () => {
  using bench = new TaskBench();
  const tasks = bench.copyTask('slow', { 'env/train.py': 'import time\ntime.sleep(60)\n' });
  const place = { folder: bench.folder, variables: { MLAB_CACHE: join(bench.folder, 'cache') } };
  const argv = ['run', '--task-dir', tasks, '--task', 'sums', '--agent', 'baseline', '--name', 'slow'];
  const { out } = await mlab([...argv, '--wall-seconds', '3'], place);
  expect(out).toMatch(/Time limit too short for the starter:\n.*stopped after .* s; raise --wall-seconds/);
  expect(out).not.toContain('fails by itself');
});
