import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { fixtureTasks, TaskBench } from '../../test/fixtures/fixture-task.ts';
import { launcher } from '../../test/fixtures/mlab-process.ts';
import { openExperiment } from '../store/index.ts';

const slowAgent = `export default {
  name: 'slow', summary: 'Waits.', needs: { model: false, reference: false }, options: {},
  async run({ environment }) {
    await environment.step({ name: 'List Files', args: { dir_path: '.' } });
    await environment.step({ name: 'Run Command', args: { command: 'sleep 600' } });
  },
};`;
const Seen = z.object({ output: z.string(), code: z.int() });

/** Runs an agent that never ends, and stops it during a step. */
async function stoppedRun(bench: TaskBench, ...how: string[]): Promise<z.infer<typeof Seen>> {
  await bench.provision();
  writeFileSync(join(bench.folder, 'slow.ts'), slowAgent);
  const flags = ['--task-dir', fixtureTasks, '--dir', bench.experiments, '--sandbox', 'none'];
  const run = ['run', '--task', 'sums', '--agent', './slow.ts', '--name', 'slow', ...flags];
  const terminal = join(import.meta.dirname, '../../test/fixtures/at_terminal.py');
  const { stdout } = await promisify(execFile)(
    'python3',
    [terminal, ...how, 'Run Command', process.execPath, launcher, ...run],
    {
      cwd: bench.folder,
      env: { PATH: process.env.PATH, HOME: bench.folder, MLAB_CACHE: bench.cache, TERM: 'xterm' },
    },
  );
  return Seen.parse(JSON.parse(stdout));
}

test('Ctrl-C at a terminal ends mlab run cleanly while a progress display rewrites itself', async () => {
  using bench = new TaskBench();
  const { output, code } = await stoppedRun(bench);
  expect(output).toContain('stopping');
  expect(output).toContain('Run the same command again');
  expect(code).toBe(130);
});

test('a closed terminal ends mlab run as cleanly', async () => {
  using bench = new TaskBench();
  expect((await stoppedRun(bench, '--close')).code).toBe(130);
  const record = openExperiment(join(bench.experiments, 'slow')).runFolder('sums-slow-0').readRecord();
  expect(record?.status).toBe('interrupted');
});
