import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../../test/fixtures/temporary-folder.ts';
import { until } from '../../../../test/fixtures/until.ts';
import { shellWord } from '../../../lib/shell-word.ts';
import { SlurmSettings } from '../../../schema/index.ts';
import { arrayOptions, batchScript } from './batch-script.ts';

/** A job's folder, with fake worker and scontrol programs that record their arguments. */
function makePlace(settings: Record<string, unknown> = {}) {
  const folder = join(temporaryFolder(), "it's a folder");
  for (const name of ['jobs', 'results', 'logs', 'bin']) mkdirSync(join(folder, name), { recursive: true });
  const program = (name: string, lines: string) => {
    writeFileSync(join(folder, 'bin', name), `#!/bin/bash\n${lines}\n`);
    chmodSync(join(folder, 'bin', name), 0o755);
    return join(folder, 'bin', name);
  };
  const worker = program(
    'worker',
    `echo '{"job":"'"$2"'"}'; if [ -e "${folder}/slow" ]; then trap 'exit 130' TERM; touch "${folder}/begun"; for i in $(seq 100); do sleep 0.1; done; fi; exit 1`,
  );
  program('scontrol', `echo "$@" > "${folder}/requeued"; exit 1`);
  const script = join(folder, 'array.sh');
  writeFileSync(script, batchScript(folder, shellWord(worker), SlurmSettings.parse(settings), ''));
  const env = {
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
    ...{ SLURM_ARRAY_TASK_ID: '3', SLURM_ARRAY_JOB_ID: '7', SLURMD_NODENAME: 'n1' },
  };
  const has = (name: string) => existsSync(join(folder, name));
  const read = (name: string) => readFileSync(join(folder, name), 'utf8').trim();
  return { folder, script, env, has, read };
}

test('a job leaves what its worker said, and ends with its code', async () => {
  const { folder, script, env, read } = makePlace({ preamble: 'export SEEN=yes' });
  const child = spawn('bash', [script], { env });
  const [code] = await once(child, 'exit');
  expect(code).toBe(1);
  expect(JSON.parse(read('results/3.json'))).toEqual({ job: join(folder, 'jobs/3.json') });
});

test.each([
  ['USR1', true],
  ['TERM', false],
] as const)(
  '%s stops the worker; that the job is queued again is asked for: %s',
  async (signal, isRequeued) => {
    const { folder, script, env, has, read } = makePlace();
    writeFileSync(join(folder, 'slow'), '');
    const child = spawn('bash', [script], { env });
    await until('the worker runs', () => has('begun'), 10);
    child.kill(`SIG${signal}`);
    const [code] = await once(child, 'exit');
    expect(code).toBe(130);
    expect(has('requeued')).toBe(isRequeued);
    if (isRequeued) expect(read('requeued')).toBe('requeue 7_3');
  },
);

test('a job that was queued again often enough is not any more', async () => {
  const { folder, script, env, has } = makePlace({ requeues: 5 });
  writeFileSync(join(folder, 'slow'), '');
  const child = spawn('bash', [script], { env: { ...env, SLURM_RESTART_COUNT: '5' } });
  await until('the worker runs', () => has('begun'), 10);
  child.kill('SIGUSR1');
  await once(child, 'exit');
  expect(has('requeued')).toBe(false);
});

test('jobs take along what mlab reads and what is named, and nothing else of the environment', () => {
  const settings = SlurmSettings.parse({ export: ['MY_MODULES'], partition: 'gpu', time: '2:00:00' });
  const array = { name: 'mlab-1', folder: '/at/50%/x', count: 4, parallel: 2, after: '12' };
  const variables = { PATH: '/bin', HOME: '/root', ANTHROPIC_API_KEY: 'secret', MY_MODULES: 'a', OTHER: 'b' };
  const options = arrayOptions(array, settings, variables);
  expect(options).toEqual(
    expect.arrayContaining([
      ...['--array=0-3%2', '--export=PATH,HOME,MY_MODULES', '--partition=gpu', '--time=2:00:00'],
      ...['--dependency=aftercorr:12', '--output=/at/50%%/x/logs/%a.log', '--signal=B:USR1@120'],
    ]),
  );
});

test('what is written into the script stays what it was', () => {
  const text = "a'b $HOME `x` \\ \n*";
  expect(execFileSync('bash', ['-c', `printf %s ${shellWord(text)}`], { encoding: 'utf8' })).toBe(text);
});
