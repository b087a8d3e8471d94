import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fixtureTasks, TaskBench } from '../../test/fixtures/fixture-task.ts';
import { launcher, type MlabEnd, mlab, startMlab } from '../../test/fixtures/mlab-process.ts';
import { describeInSandbox } from '../../test/fixtures/needs-sandbox.ts';
import { traceText } from '../../test/fixtures/store/trace-text.ts';
import { until } from '../../test/fixtures/until.ts';

const bench = new TaskBench();
const place = { folder: bench.folder, variables: { MLAB_CACHE: bench.cache } };
afterAll(() => bench[Symbol.dispose]());

/** Prints what would take over a terminal, in its output, a file and a file's name. */
const hostileTrain = `
evil = "\\x1b]0;owned\\x07\\x1b[2J\\x9b31m\\r\\u202etxt"
print(evil)
open("plain.txt", "w").write(evil + "\\n")
open("name\\x1b[2J", "w").write("x")
open("submission.csv", "w").write("id," + evil + "\\n")
`;
const slowTrain = 'import time\nprint("begun")\ntime.sleep(300)\n';

/** Another weight in each run. */
const randomWeight = 'import random\nSECOND_WEIGHT = random.random()';

function run(argv: readonly string[], tasks = fixtureTasks): Promise<MlabEnd> {
  return mlab(['--task-dir', tasks, ...argv], place);
}

describeInSandbox('mlab', () => {
  beforeAll(async () => {
    const { code, err } = await run(['run', '--task', 'sums', '--agent', 'noop,oracle', '--name', 'first']);
    if (code !== 0) throw new Error(err);
  });

  test('run reports its progress on standard error, prints the results, and prints commands that work unchanged', async () => {
    const argv = ['--dir', 'some where', 'run', '--task', 'sums', '--agent', 'oracle', '--name', 'hints'];
    const { code, out, err } = await run(argv);
    expect(code).toBe(0);
    expect(err).toMatch(/hints: 1 run, [\s\S]*sums-oracle-0: score 0, \+100 %/);
    const commands = out
      .split('\n')
      .flatMap((line) => /^ {2}((?:npx )?mlab .*?) {2,}\S/.exec(line)?.slice(1) ?? []);
    expect(commands.length).toBe(5);
    // The viewer stays until Ctrl-C; an export of it ends.
    for (const command of commands.map((one) => one.replace(/^((?:npx )?mlab view)/, '$1 --export page'))) {
      const shell = `${command.replace(/^(npx )?mlab/, `'${process.execPath}' '${launcher}'`)} > /dev/null`;
      const child = spawn('sh', ['-c', shell], {
        cwd: place.folder,
        env: { ...process.env, ...place.variables },
      });
      expect(await new Promise((resolve) => child.once('close', resolve)), command).toBe(0);
    }
  });

  test('every command about runs answers in text and as one JSON document', async () => {
    const commands = [
      ['report', 'first'],
      ['runs', 'ls'],
      ['runs', 'ls', 'first'],
      ['runs', 'show', 'first/sums-oracle-0'],
      ['runs', 'show', 'sums-oracle-0'],
      ['runs', 'show', 'first/sums-oracle-0', '--step', '2'],
      ['runs', 'diff', 'first/sums-oracle-0', '0', 'last'],
      ['runs', 'check', 'first'],
      ['grade', 'first', '--steps', 'all'],
      ['verify', 'first', 'first/sums-oracle-0'],
      ['prepare', 'sums'],
    ];
    for (const argv of commands) {
      expect((await run(argv)).code, argv.join(' ')).toBe(0);
      const { code, out } = await run([...argv, '--json']);
      expect(code).toBe(0);
      expect(typeof JSON.parse(out)).toBe('object');
    }
    const { out } = await run(['runs', 'diff', 'first/sums-oracle-0', '0', 'last']);
    expect(out).toContain('+SECOND_WEIGHT = 1');
    const restored = join(bench.folder, 'restored');
    expect((await run(['runs', 'restore', 'first/sums-oracle-0', 'last', restored])).code).toBe(0);
    expect(readdirSync(restored).sort()).toEqual(['.pinned', 'frozen', 'submission.csv', 'train.py']);
  });

  test('run and replay end, though the code of an agent left a timer that would keep the process alive', async () => {
    const idle = join(bench.folder, 'idle.mjs');
    writeFileSync(
      idle,
      `export default { name: 'idle', summary: 'x', needs: { model: false, reference: false }, options: {},
        async run({ environment }) {
          await environment.step({ name: 'List Files', args: { dir_path: '.' } });
          await new Promise((resolve) => setTimeout(resolve, 10_000_000));
        } };`,
    );
    const begun = await run([
      'run',
      '--task',
      'sums',
      '--agent',
      idle,
      '--wall-seconds',
      '2',
      '--name',
      'idle',
    ]);
    expect(begun.code).toBe(0);
    const { code, out } = await run(['runs', 'replay', 'idle']);
    expect(out).toContain('1 run replayed, 0 diverged.');
    expect(code).toBe(0);
  });

  test('what no snapshot keeps is named among the differences, and by the grade', async () => {
    const agent = 'command:rm -f submission.csv; mkfifo submission.csv';
    await run(['run', '--task', 'sums', '--agent', agent, '--name', 'pipe']);
    expect((await run(['runs', 'diff', 'pipe'])).out).toContain('not kept: submission.csv (pipe)');
    expect((await run(['grade', 'pipe'])).out).toContain('submission.csv is a pipe, not a file.');
  });

  test.each([
    [['runs', 'show', 'first/sums-oracel-0'], 'Did you mean "first/sums-oracle-0"?'],
    [['runs', 'show', 'frist/sums-oracle-0'], 'Did you mean "first/sums-oracle-0"?'],
    [['runs', 'show', 'sums-oracel-0'], 'Did you mean "first/sums-oracle-0"?'],
    [['runs', 'show', 'first'], 'such as first/sums-noop-0'],
    [['runs', 'show', 'first/sums-oracle-0', '--step', '99'], 'The run has 4 steps.'],
    [['runs', 'diff', 'first/sums-oracle-0', '0', 'end'], 'It has the steps 0 to 4.'],
    [['runs', 'diff', 'first/sums-oracle-0', '3', '1'], 'Give the earlier step first: 1 3.'],
    [['runs', 'restore', 'first/sums-oracle-0', 'last', '.'], 'empty'],
    [['run', '--task', 'sums', '--agent', 'noop', '--name', 'first'], 'contains a different plan'],
  ])('mlab %j is wrong usage, and the error suggests what was meant', async (argv, message) => {
    const { code, out, err } = await run(argv);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(message);
  });

  test('verify and runs show distinguish a result that is reproduced from one that is not', async () => {
    const whole = await run(['verify', 'first']);
    expect(whole.code).toBe(0);
    expect(whole.err).toContain('sums-oracle-0: runs python train.py\nsums-oracle-0: reproduced');
    expect(whole.out).toMatch(
      /sums-noop-0 +nothing to verify[\s\S]*2 runs verified: 0 not reproduced, 0 could not be run\./,
    );
    const solution = join(fixtureTasks, 'sums/hidden/solution/train.py');
    const random = readFileSync(solution, 'utf8').replace(/^SECOND_WEIGHT = 1$/m, randomWeight);
    const tasks = bench.copyTask('random', { 'hidden/solution/train.py': random });
    await run(['run', '--task', 'sums', '--agent', 'oracle', '--name', 'random'], tasks);
    const { code, out } = await run(['verify', 'random', '--repeats', '2'], tasks);
    expect(code).toBe(1);
    expect(out).toMatch(/sums-oracle-0 +not reproduced[\s\S]*python train\.py +\(step 2\)/);
    const shown = await run(['runs', 'show', 'random/sums-oracle-0'], tasks);
    expect(shown.out).toMatch(/^verified: not reproduced\. Run again, it scores .*; the run scored/m);
  });

  test('the same command again keeps finished runs', async () => {
    const argv = ['run', '--task', 'sums', '--agent', 'noop,oracle', '--name', 'first'];
    const trace = join(bench.folder, 'experiments/first/runs/sums-oracle-0/trace.jsonl');
    const before = traceText(trace);
    const { code, err } = await run(argv);
    expect(code).toBe(0);
    expect(err).toContain('sums-oracle-0: kept (final_answer)');
    expect(traceText(trace)).toBe(before);
  });

  test('Ctrl-C stops cleanly with exit code 130, and the same command resumes', async () => {
    const tasks = bench.copyTask('slow', { 'env/train.py': slowTrain });
    const argv = [
      '--task-dir',
      tasks,
      'run',
      '--task',
      'sums',
      '--agent',
      'baseline',
      '--name',
      'slow',
      '--json',
    ];
    const started = startMlab(argv, place);
    const folder = join(bench.folder, 'experiments/slow/runs/sums-baseline-0');
    const traced = () => traceText(join(folder, 'trace.jsonl'));
    await until('the script runs', () => traced().includes('begun'));
    started.process.kill('SIGINT');
    const { code, out, err } = await started.ended;
    expect(code).toBe(130);
    expect(err).toContain('stopping');
    expect(JSON.parse(out)).toMatchObject({ runs: [{ status: 'interrupted', steps: 0 }] });
    expect(JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'))).toMatchObject({
      status: 'interrupted',
      pid: null,
    });

    const again = startMlab(argv, place);
    await until(
      'it runs again',
      () => again.said().includes('resumed') && traced().split('begun').length > 2,
    );
    again.process.kill('SIGINT');
    await sleep(20);
    // Two signals within 100 ms count as one.
    await sleep(200);
    again.process.kill('SIGINT');
    expect((await again.ended).code).toBe(130);
  });

  test('Ctrl-C while data is being prepared stops with exit code 130 and leaves nothing incomplete', async () => {
    const tasks = bench.copyTask('preparing', { 'hidden/prepare.py': 'import time\ntime.sleep(300)\n' });
    const started = startMlab(['--task-dir', tasks, 'run', '--task', 'sums', '--name', 'never'], place);
    await until('it prepares the data', () => started.said().includes('preparing'));
    await sleep(300);
    started.process.kill('SIGINT');
    const { code, err } = await started.ended;
    expect(code).toBe(130);
    expect(err).toContain('mlab: Stopped.');
    expect(existsSync(join(bench.folder, 'experiments/never'))).toBe(false);
    expect((await run(['prepare', 'sums'])).code).toBe(0);
  });

  test('two processes can work on one experiment: each run is executed once', async () => {
    const argv = [
      'run',
      '--task',
      'sums',
      '--agent',
      'baseline',
      '--seeds',
      '4',
      '--parallel',
      '2',
      '--name',
      'shared',
    ];
    const ends = await Promise.all([run(argv), run(argv)]);
    for (const { code, err } of ends) expect([0, 1], err).toContain(code);
    const { out } = await run(['runs', 'ls', 'shared', '--json']);
    const { runs } = JSON.parse(out);
    expect(runs.map(({ status }: { status: string }) => status)).toEqual(Array(4).fill('finished'));
    for (const { run: id } of runs) {
      const trace = traceText(join(bench.folder, `experiments/shared/runs/${id}/trace.jsonl`));
      expect(trace.split('"session_started"').length).toBe(2);
    }
    expect((await run(['runs', 'check', 'shared'])).code).toBe(0);
  });

  test('text that an agent or its scripts wrote cannot control the terminal', async () => {
    const tasks = bench.copyTask('hostile', { 'env/train.py': hostileTrain });
    const argv = ['run', '--task', 'sums', '--agent', 'baseline', '--name', 'hostile', '--grade', 'all'];
    const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/;
    const run0 = 'hostile/sums-baseline-0';
    for (const command of [
      argv,
      ['runs', 'show', run0],
      ['runs', 'show', run0, '--step', '1'],
      ['runs', 'diff', run0, '0', 'last'],
      ['grade', 'hostile', '--steps', 'all'],
      ['report', 'hostile'],
      ['runs', 'ls', 'hostile'],
      ['runs', 'check', 'hostile'],
    ]) {
      const { out, err } = await run(command, tasks);
      expect(control.exec(out + err), command.join(' ')).toBeNull();
    }
  });

  test('progress at a narrow terminal stays within its width and shows no raw control characters', async () => {
    const tasks = bench.copyTask('narrow', { 'env/train.py': hostileTrain });
    const columns = 44;
    const command = [
      launcher,
      '--task-dir',
      tasks,
      'run',
      '--task',
      'sums',
      '--agent',
      'baseline',
      '--name',
      'narrow',
    ];
    const script = `import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", 24, ${columns}, 0, 0))
    os.execv(sys.argv[1], sys.argv[1:])
while True:
    try: data = os.read(fd, 4096)
    except OSError: break
    if not data: break
    os.write(1, data)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`;
    const child = spawn('python3', ['-c', script, process.execPath, ...command], {
      cwd: place.folder,
      env: { ...process.env, ...place.variables, NO_COLOR: '1', CI: '' },
    });
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0);
    expect(text).toContain('1 of 1 runs done');
    expect(text).not.toMatch(/\u001b\]0;|\u001b\[2J|\u202e/);
    const live = text.split('\n').filter((line) => /[▸✓✗·] sums/.test(line));
    expect(live.length).toBeGreaterThan(0);
    for (const line of live)
      expect(line.replaceAll(/\u001b\[[0-9;?]*[A-Za-z]/g, '').trimEnd().length).toBeLessThanOrEqual(columns);
  });
});
