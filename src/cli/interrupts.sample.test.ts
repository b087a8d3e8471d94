import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { fixtureTasks, TaskBench } from '../../test/fixtures/fixture-task.ts';
import { launcher } from '../../test/fixtures/mlab-process.ts';

const slowAgent = `export default {
  name: 'slow', summary: 'Waits.', needs: { model: false, reference: false }, options: {},
  async run({ environment }) {
    await environment.step({ name: 'List Files', args: { dir_path: '.' } });
    await environment.step({ name: 'Run Command', args: { command: 'sleep 600' } });
  },
};`;
const Seen = z.object({ output: z.string(), code: z.int() });

test('Ctrl-C at a terminal ends mlab run cleanly while a progress display rewrites itself', async () => {
  using bench = new TaskBench();
  await bench.provision();
  writeFileSync(join(bench.folder, 'slow.ts'), slowAgent);
  const flags = ['--task-dir', fixtureTasks, '--dir', bench.experiments, '--sandbox', 'none'];
  const run = ['run', '--task', 'sums', '--agent', './slow.ts', '--name', 'slow', ...flags];
  const terminal = join(import.meta.dirname, '../../test/fixtures/at_terminal.py');
  const { stdout } = await promisify(execFile)(
    'python3',
    [terminal, 'Run Command', process.execPath, launcher, ...run],
    {
      cwd: bench.folder,
      env: { PATH: process.env.PATH, HOME: bench.folder, MLAB_CACHE: bench.cache, TERM: 'xterm' },
    },
  );
  const { output, code } = Seen.parse(JSON.parse(stdout));
  expect(output).toContain('stopping');
  expect(output).toContain('Run the same command again');
  expect(code).toBe(130);
});
