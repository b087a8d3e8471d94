import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type BarePython, barePython } from '../../test/fixtures/bare-python.ts';
import { describeInSandbox } from '../../test/fixtures/needs-sandbox.ts';
import { type PlaceOptions, WorkspacePlace, writeFiles } from '../../test/fixtures/workspace-place.ts';
import { RunStopped } from './run-stopped.ts';

/** Real processes in bubblewrap, with a Python that has no packages. */
let bare: BarePython;

beforeAll(async () => {
  bare = await barePython();
});
afterAll(() => bare[Symbol.dispose]());

function open(options: PlaceOptions = {}): Promise<WorkspacePlace> {
  return WorkspacePlace.open({ ...options, sandbox: { driver: 'bubblewrap', python: bare.python } });
}

describeInSandbox('scripts', () => {
  const run = (place: WorkspacePlace, script_name: string) => place.step('Execute Script', { script_name });

  test('stdout and stderr come back in the order in which they were printed, with exit code and time', async () => {
    const source = `import sys
for i in range(3):
    print("out", i)
    print("err", i, file=sys.stderr)
sys.exit(7)`;
    await using place = await open({ files: { 'a.py': source } });
    const answer = await run(place, 'a.py');
    expect(answer).toMatchObject({ status: 'failed', exitCode: 7 });
    expect(answer.observation).toMatch(
      /^out 0\nerr 0\nout 1\nerr 1\nout 2\nerr 2\n\[exit code 7, \d+\.\d s\]$/,
    );
  });

  test('output before an exception is shown with the exception', async () => {
    await using place = await open({ files: { 'a.py': 'print("before")\n1/0\n' } });
    const answer = await run(place, 'a.py');
    expect(answer.observation).toMatch(/^before\n[\s\S]*ZeroDivisionError[\s\S]*\[exit code 1, /);
  });

  test('names are taken literally: hyphens, blanks, quotes and semicolons have no effect', async () => {
    const names = [
      '-c',
      '--version',
      'a b.py',
      "it's.py",
      '$(touch x).py',
      'a;touch y;.py',
      'ünï.py',
      'sub/-m',
    ];
    const files = Object.fromEntries(names.map((name) => [name, 'import sys; print("ran", len(sys.argv))']));
    await using place = await open({ files });
    for (const name of names)
      expect((await run(place, name)).observation, name).toMatch(/^ran 1\n\[exit code 0, /);
    expect((await place.step('List Files', { dir_path: '.' })).observation.split('\n')).not.toContain('y');
  });

  test('a script that is missing, or is a folder, is reported without starting anything', async () => {
    await using place = await open({ files: { 'sub/a.py': '' } });
    expect(await run(place, 'none.py')).toMatchObject({ status: 'failed', exitCode: null });
    expect((await run(place, 'sub')).observation).toBe('sub is a folder, not a script.');
    expect((await run(place, '.')).observation).toBe('. is a folder, not a script.');
    expect(await run(place, '/etc/passwd')).toMatchObject({ status: 'refused' });
  });

  test('a script that takes too long is ended with all its children, its output is kept, and the run continues', async () => {
    const source = `import subprocess, sys
print("begun")
subprocess.Popen([sys.executable, "-c", "import time,signal; signal.signal(15, lambda *a: None); time.sleep(600); open('survivor','w')"])
while True: pass`;
    await using place = await open({ files: { 'a.py': source }, limits: { script_seconds: 1 } });
    const answer = await run(place, 'a.py');
    expect(answer).toMatchObject({ status: 'timed_out', ended: false });
    expect(answer.observation).toMatch(/^begun\n[\s\S]*its time was up/);
    expect(await place.step('List Files', { dir_path: '.' })).toMatchObject({ status: 'ok' });
  });

  test("when the run's time is up during a script, the script is ended, its output kept, and the run is over", async () => {
    const files = { 'a.py': 'import time\nprint("begun")\ntime.sleep(600)\n' };
    await using place = await open({ files, limits: { wall_seconds: 1.5 } });
    const answer = await run(place, 'a.py');
    expect(answer).toMatchObject({ status: 'timed_out', ended: true });
    expect(answer.observation).toContain('begun');
    expect(answer.budget.seconds_left).toBe(0);
    expect(place.environment.ending?.reason).toBe('time_limit');
    expect((await place.step('Read File', { file_name: 'a.py' })).status).toBe('closed');
  });

  test('limits beyond the range of timers do not end a script at once', async () => {
    const limits = { wall_seconds: 1e9, script_seconds: 1e9 };
    await using place = await open({ files: { 'a.py': 'print("done")' }, limits });
    expect(await run(place, 'a.py')).toMatchObject({ status: 'ok' });
  });

  test('a script that needs too much memory or fills the workspace is ended with the reason', async () => {
    const files = {
      'memory.py': 'print("begun")\nx = bytearray(10**9)\nfor i in range(0, len(x), 4096): x[i] = 1\n',
      'disk.py':
        'print("begun")\nfor n in range(100):\n  open(f"f{n}", "wb").write(bytes(10**6))\n  import time; time.sleep(.05)',
    };
    await using place = await open({ files, limits: { memory_mb: 128, workspace_mb: 8 } });
    const memory = await run(place, 'memory.py');
    expect(['out_of_memory', 'failed']).toContain(memory.status);
    expect(memory.observation).toMatch(/^begun/);
    const disk = await run(place, 'disk.py');
    expect(disk.status).toBe('workspace_full');
    expect(disk.observation).toContain('Remove files before going on');
    expect((await place.step('Run Command', { command: 'rm f*' })).status).toBe('ok');
    expect(await place.step('Write File', { file_name: 'x', content: 'y' })).toMatchObject({ status: 'ok' });
  });

  test('long output keeps its head and tail, says how much was cut, and is stored whole for the agent', async () => {
    const source = 'for i in range(20000): print(f"line {i:05d} 😀")';
    await using place = await open({ files: { 'a.py': source } });
    const { observation } = await run(place, 'a.py');
    const parts =
      /^line 00000[\s\S]*\n\[… (\d+) characters cut; the whole output is in (\S+) …\]\n[\s\S]*line 19999 😀\n\[exit/.exec(
        observation,
      );
    const [, cut = '', file = ''] = parts ?? [];
    expect(file).toBe('.outputs/step-00001.txt');
    expect(observation.isWellFormed()).toBe(true);
    const whole = readFileSync(join(place.folder, 'outputs/step-00001.txt'), 'utf8');
    const shown = observation.replace(/\n\[… .*\]\n/, '').replace(/\n\[exit.*$/, '\n');
    expect(shown.length + Number(cut)).toBe(whole.length);
    expect((await place.step('List Files', { dir_path: '.' })).observation).toContain('.outputs/');
    const tail = await place.step('Run Command', { command: `tail -n 1 ${file}` });
    expect(tail.observation).toContain('line 19999');
    const found = await place.step('Inspect Script Lines', {
      script_name: file,
      start_line_number: 10_000,
      end_line_number: 10_000,
    });
    expect(found.observation).toContain('line 09999');
  });

  test('output streams to the trace as it arrives, up to a limit', async () => {
    const source = 'import sys\nfor i in range(40): sys.stdout.write("x" * 100_000 + "\\n")';
    await using place = await open({ files: { 'a.py': source } });
    await run(place, 'a.py');
    const streamed = place.events.flatMap((event) => (event.kind === 'output' ? [event.text.length] : []));
    const sum = streamed.reduce((one, other) => one + other, 0);
    expect(sum).toBeGreaterThan(500_000);
    expect(sum).toBeLessThan(2 ** 20 + 200_000);
  });

  test('bytes that are not text do no harm', async () => {
    await using place = await open({ files: { 'a.py': 'import os\nos.write(1, bytes(range(256)))' } });
    const answer = await run(place, 'a.py');
    expect(answer.status).toBe('ok');
    await place.reopen();
    expect((await run(place, 'a.py')).observation).toBe(answer.observation);
  });

  test('a script that removes all permissions of the workspace does not stop the run', async () => {
    await using place = await open({ files: { 'a.py': 'import os\nos.chmod("/workspace", 0)' } });
    // For a user other than root the watchdog may see it first: what can't be measured counts as full.
    for (let attempt = 0; attempt < 2; attempt += 1) {
      expect(['ok', 'workspace_full']).toContain((await run(place, 'a.py')).status);
      expect(statSync(place.workspace).mode & 0o700).toBe(0o700);
    }
    expect((await place.step('Read File', { file_name: 'a.py' })).status).toBe('ok');
  });

  test('a submission that a later script did not write is stale until it is written again', async () => {
    const write = 'open("submission.csv", "w").write("id,value\\n1,1\\n")';
    await using place = await open({ files: { 'write.py': write, 'other.py': '' } });
    const stale = () =>
      place.events.flatMap((event) => (event.kind === 'step_finished' ? [event.submission.stale] : []));
    await run(place, 'write.py');
    await run(place, 'other.py');
    await place.step('List Files', { dir_path: '.' });
    await run(place, 'write.py');
    await place.step('Run Command', { command: 'python other.py' });
    expect(stale()).toEqual([false, true, true, false, false]);
    expect((await place.environment.finalState()).submission.stale).toBe(false);
  });

  test('being stopped during a script ends it and throws, and the step is not recorded', async () => {
    const controller = new AbortController();
    await using place = await open({
      files: { 'a.py': 'import time; time.sleep(600)' },
      signal: controller.signal,
    });
    const running = run(place, 'a.py');
    await sleep(300);
    controller.abort();
    await expect(running).rejects.toBeInstanceOf(RunStopped);
    expect(place.events.at(-1)?.kind).toBe('step_started');
  });
});

describeInSandbox('commands', () => {
  test('a shell command runs in the workspace, without network, home or environment of the host', async () => {
    process.env.MLAB_TEST_SECRET = 'secret';
    await using place = await open({ files: { 'a.txt': 'x' } });
    const answer = await place.step('Run Command', { command: 'pwd; ls; env; echo err >&2; exit 3' });
    delete process.env.MLAB_TEST_SECRET;
    expect(answer).toMatchObject({ status: 'failed', exitCode: 3 });
    expect(answer.observation).toMatch(/^\/workspace\n/);
    expect(answer.observation).toContain('a.txt');
    expect(answer.observation).not.toContain('secret');
    expect(answer.observation).toMatch(/err\n\[exit code 3, /);
  });

  test('a command ended by a signal, and one that prints nothing, are reported', async () => {
    await using place = await open();
    expect((await place.step('Run Command', { command: 'kill -9 $$' })).observation).toMatch(
      /^\(it printed nothing\)\n\[ended by SIGKILL, /,
    );
    expect((await place.step('Run Command', { command: ':' })).observation).toMatch(
      /^\(it printed nothing\)\n\[exit code 0/,
    );
  });

  test('a daemon that a command leaves behind is gone when the step ends', async () => {
    await using place = await open();
    const command = '(setsid sh -c "sleep 1; echo alive > survivor" &) ; echo started';
    await place.step('Run Command', { command });
    await sleep(1500);
    expect((await place.step('List Files', { dir_path: '.' })).observation).not.toContain('survivor');
  });
});

/** Looks for words of 32 hexadecimal digits in every object and frame of its process, and for a way into its parent. */
const finder = `import ctypes, gc, os, re, sys
token = re.compile(r"(?<![/0-9a-f])[0-9a-f]{32}(?![0-9a-f])")
def hunt():
    places = 0
    frame = sys._getframe()
    while frame:
        places += 1
        if token.search(repr(frame.f_locals)): print("found in a frame")
        frame = frame.f_back
    for thing in gc.get_objects():
        for inner in gc.get_referents(thing):
            places += 1
            if isinstance(inner, (str, bytes)) and token.search(inner if isinstance(inner, str) else inner.decode("latin-1")):
                if inner is not token.pattern: print("found in an object")
    for number in range(40):
        try: target = os.readlink(f"/proc/self/fd/{number}")
        except OSError: continue
        places += 1
        if token.search(target): print("found in a name")
    parent = os.getppid()
    refused = []
    for name in ("environ", "fd/0", "fd/1", "mem"):
        try: open(f"/proc/{parent}/{name}", "rb").close()
        except PermissionError: refused.append(name)
    attached = ctypes.CDLL(None).ptrace(16, parent, 0, 0)
    if attached == 0: print("found a way in")
    print("looked at", places, "places; refused:", ", ".join(refused))
`;

describeInSandbox('the interpreter', () => {
  const python = (place: WorkspacePlace, command: string) => place.step('Python REPL', { command });

  test('variables, functions, imports and classes are kept from step to step', async () => {
    await using place = await open({ files: { 'mine.py': 'value = 5' } });
    await python(place, 'import mine\nx = 1\ndef f(): return x + mine.value\nclass C: pass');
    await python(place, 'x = 10');
    expect(await python(place, 'f()')).toMatchObject({ status: 'ok', observation: '15\n' });
    expect((await python(place, '_ + 1')).observation).toBe('16\n');
    expect(
      (await python(place, 'import pickle; type(pickle.loads(pickle.dumps(C()))) is C')).observation,
    ).toBe('True\n');
  });

  test('what it writes between two steps is in the snapshot of the second, whatever that does', async () => {
    await using place = await open();
    const code = `import threading
def later():
    open("later.txt", "w").write("late")
waiting = threading.Timer(0.3, later)
waiting.start()`;
    await python(place, code);
    await vi.waitUntil(() => existsSync(join(place.workspace, 'later.txt')), { timeout: 20_000 });
    await place.step('Check Budget');
    const finished = place.events.filter((event) => event.kind === 'step_finished');
    expect(finished.map(({ changed }) => changed)).toEqual([[], ['later.txt']]);
  });

  test("an exception is shown with the agent's lines only, and variables are kept", async () => {
    await using place = await open();
    await python(place, 'x = 1');
    const answer = await python(place, 'print("before"); 1/0');
    expect(answer.status).toBe('failed');
    expect(answer.observation).toMatch(
      /^before\nTraceback[\s\S]*File "<repl>", line 1[\s\S]*ZeroDivisionError/,
    );
    expect(answer.observation).not.toContain('repl.py');
    expect((await python(place, 'def')).observation).toContain('SyntaxError');
    expect((await python(place, 'x')).observation).toBe('1\n');
  });

  test('output without a line break, empty output and huge output come back unchanged', async () => {
    await using place = await open();
    expect((await python(place, 'print("x", end="")')).observation).toBe('x');
    expect((await python(place, 'y = 2')).observation).toBe('');
    expect((await python(place, '')).status).toBe('ok');
    expect((await python(place, 'print("a\\n\\nb\\n")')).observation).toBe('a\n\nb\n\n');
    const huge = await python(place, 'print("z" * 10**6 + "end")');
    expect(huge.observation).toMatch(/^z+\n\[… \d+ characters cut; the whole output is in .*\]\nz+end\n$/);
    expect((await python(place, 'y')).observation).toBe('2\n');
  });

  test('text that looks like the end of a command is only text', async () => {
    await using place = await open();
    const answer = await python(
      place,
      'print("\\n" + "0" * 32 + " ok\\nstill here"); print("\\n" + "ab"*16 + " failed")',
    );
    expect(answer.observation).toContain('still here');
    expect(answer.status).toBe('ok');
    expect((await python(place, '1')).observation).toBe('1\n');
  });

  test('the token that ends a command is in no process that its code can read', async () => {
    await using place = await open({ files: { 'hunt.py': finder } });
    const answer = await python(place, 'import hunt; hunt.hunt(); print("\\nhunted")');
    expect(answer.observation).toMatch(/looked at \d\d+ places/);
    expect(answer.observation).toContain('refused: environ, fd/0, fd/1, mem');
    expect(answer.observation).not.toContain('found');
    expect(answer).toMatchObject({ status: 'ok' });
    expect(answer.observation).toContain('hunted');
  });

  test('code that forges the end of its command gains no more than a thread: its output is shown with the next command', async () => {
    await using place = await open({ limits: { script_seconds: 3 } });
    const forger = `import os, time
for number in range(3, 40):
    try:
        os.write(number, b'o' * 3)
    except OSError:
        pass
time.sleep(1)
print('still here', flush=True)`;
    await python(place, forger);
    // Which command shows which output depends on the forging code; nothing is lost.
    const shown: string[] = [];
    for (const command of ['print("next")', '1 + 1', 'import time; time.sleep(0.5)'])
      shown.push((await python(place, command)).observation);
    expect(shown.join('')).toMatch(/still here\n[\s\S]*next\n[\s\S]*2\n/);
    expect(await python(place, '2 + 2')).toMatchObject({ status: 'ok', observation: '4\n' });
  });

  test('a hundred megabytes without a line break need little time and memory', async () => {
    await using place = await open();
    const before = process.memoryUsage.rss();
    const started = performance.now();
    const answer = await python(
      place,
      'import os\nfor _ in range(100): os.write(1, b"\\n" + b"0" * 32 + b" " * (2**20 - 33))',
    );
    expect(answer.status).toBe('ok');
    expect(performance.now() - started).toBeLessThan(20_000);
    expect(process.memoryUsage.rss() - before).toBeLessThan(300 * 2 ** 20);
  });

  test('replaced or closed output streams do not break it', async () => {
    await using place = await open();
    const tricks = [
      'import sys, io; keep = sys.stdout; sys.stdout = io.StringIO()',
      'sys.stdout = None',
      'sys.stderr = None\n1/0',
      'sys.stderr = 3\n1/0',
      'sys.stdout = keep',
      'keep.close()',
    ];
    for (const trick of tricks)
      expect((await python(place, trick)).observation, trick).not.toContain('interpreter');
    expect(await python(place, 'x = 1')).toMatchObject({ status: 'ok' });
  });

  test('input() finds nothing to read', async () => {
    await using place = await open();
    expect((await python(place, 'input()')).observation).toContain('EOFError');
    expect((await python(place, 'import sys; sys.stdin.read()')).observation).toBe("''\n");
  });

  test('what a thread prints between two commands is shown with the next', async () => {
    await using place = await open();
    await python(place, 'import threading, time\nt = threading.Timer(0.3, lambda: print("late"))\nt.start()');
    await sleep(1000);
    expect((await python(place, 'print("now")')).observation).toMatch(/late\n[\s\S]*now\n$/);
  });

  test('sys.exit, a crash and a kill end it, the last output is kept, and the next command begins anew', async () => {
    await using place = await open();
    for (const last of [
      'import sys; print("bye", end=""); sys.exit(3)',
      'import os; os.write(1, b"bye"); os._exit(3)',
      'import os; os.write(1, b"bye"); os.kill(os.getpid(), 9)',
    ]) {
      await python(place, 'x = 1');
      const answer = await python(place, last);
      expect(answer.status, last).toBe('failed');
      expect(answer.observation).toMatch(/^bye\n\[[\s\S]*starts a new interpreter/);
      expect((await python(place, 'x')).observation).toContain('NameError');
    }
  });

  test('the end of an interpreter between two steps is reported with the next', async () => {
    await using place = await open();
    await python(place, 'x = 1\nimport os, threading\nthreading.Timer(0.2, os._exit, [0]).start()');
    await sleep(1000);
    const answer = await python(place, '1 + 1');
    expect(answer.observation).toMatch(/^\[a new interpreter: .*\]\n2\n$/);
  });

  test('a command that takes too long ends the interpreter and keeps what it printed', async () => {
    await using place = await open({ limits: { script_seconds: 1 } });
    const answer = await python(place, 'print("begun", flush=True)\nwhile True: pass');
    expect(answer.status).toBe('timed_out');
    expect(answer.observation).toMatch(/^begun\n[\s\S]*its time was up/);
    expect((await python(place, '1')).observation).toBe('1\n');
  });

  test('a resumed run says that its interpreter was restarted', async () => {
    await using place = await open();
    await python(place, 'x = 1');
    await place.reopen();
    await python(place, 'x = 1');
    expect((await python(place, 'x')).observation).toMatch(/^\[a new interpreter[\s\S]*NameError/);
    expect((await python(place, '2')).observation).toBe('2\n');
  });

  test('code with strange characters is run or refused, and never ends the interpreter', async () => {
    await using place = await open();
    for (const code of [
      '"\ud800"',
      'x = "\0"',
      '"é\u2028"',
      '\ufeff1',
      '('.repeat(5000),
      '# -*- coding: latin-1 -*-\n1',
    ])
      expect((await python(place, code)).observation, code).not.toContain('interpreter');
    expect((await python(place, '1')).observation).toBe('1\n');
  });
});

describeInSandbox('Search Files', () => {
  const search = (place: WorkspacePlace, pattern: string, dir_path?: string) =>
    place.step('Search Files', { pattern, ...(dir_path === undefined ? {} : { dir_path }) });

  test('matching lines are shown with file and number, in folders, single files and the data', async () => {
    await using place = await open({
      files: { 'a.py': 'alpha\nbeta\n', 'sub/b.py': 'beta2\n', '-x': 'beta3', binary: '\0beta' },
      data: { 'test.csv': 'beta4' },
    });
    expect((await search(place, '^bet.')).observation.split('\n')).toEqual([
      '-x:1: beta3',
      'a.py:2: beta',
      'data/test.csv:1: beta4',
      'sub/b.py:1: beta2',
    ]);
    expect((await search(place, 'beta', 'sub')).observation).toBe('sub/b.py:1: beta2');
    expect((await search(place, 'beta', 'a.py')).observation).toBe('a.py:2: beta');
    expect((await search(place, '--help')).observation).toBe('No line matches.');
    expect(await search(place, 'x', 'none')).toMatchObject({ status: 'failed' });
    expect(await search(place, 'x', '..')).toMatchObject({ status: 'refused' });
  });

  test.each(['(', '*', '[z-a]', '(?P<x', '('.repeat(3000), 'a{99999999999}'])(
    'the pattern %s is reported as invalid',
    async (pattern) => {
      await using place = await open();
      const answer = await search(place, pattern);
      expect(answer.status).toBe('failed');
      expect(answer.observation).toContain('not a Python regular expression');
    },
  );

  test('a pattern that would search forever is stopped', async () => {
    await using place = await open({ files: { a: `${'a'.repeat(60)}!` }, limits: { script_seconds: 1 } });
    const answer = await search(place, '(a+)+$');
    expect(answer.status).toBe('timed_out');
    expect(answer.observation).toContain('use a simpler pattern');
  });

  test('names that are not text, and very many matches, are handled within limits', async () => {
    await using place = await open({ files: { many: 'match\n'.repeat(5000) } });
    await place.step('Run Command', { command: `printf 'match\\n' > "$(printf 'x\\377y')"` });
    const answer = await search(place, 'match');
    expect(answer.status).toBe('ok');
    expect(answer.observation.split('\n').length).toBe(201);
    expect(answer.observation).toContain('[more than 200 matches');
  });
});

describeInSandbox('Validate Submission', () => {
  const validate = (place: WorkspacePlace) => place.step('Validate Submission');

  test('it accepts a valid one without a score, and says what is wrong with an invalid one', async () => {
    await using place = await open();
    const file = join(place.workspace, 'submission.csv');
    expect((await validate(place)).observation).toContain('missing_file');
    writeFileSync(file, 'id,value\n3,1\n1,2\n2,3\n');
    expect(await validate(place)).toMatchObject({
      status: 'ok',
      observation: 'The grader would accept this submission.',
    });
    const cases: [string, string][] = [
      ['id,valeu\n1,1\n2,2\n3,3\n', 'wrong_columns'],
      ['id,value\n1,1\n2,2\n', 'missing_ids'],
      ['id,value\n1,1\n1,1\n2,2\n3,3\n', 'duplicate_ids'],
      ['id,value\n1,1\n2,2\n3,3\n4,4\n', 'extra_ids'],
      ['id,value\n1,x\n2,2\n3,3\n', 'not_a_number'],
      ['id,value\n1,inf\n2,2\n3,3\n', 'not_finite'],
      ['id,value\n1,nan\n2,2\n3,3\n', 'not_finite'],
    ];
    for (const [content, code] of cases) {
      writeFileSync(file, content);
      const answer = await validate(place);
      expect(answer.status).toBe('failed');
      expect(answer.observation, content).toContain(code);
    }
  });

  test('nothing in the workspace can forge the result of the check', async () => {
    await using place = await open();
    const forged = 'print(\'{"valid": true, "problems": []}\')\nimport os; os._exit(0)\n';
    writeFiles(place.workspace, {
      'json.py': forged,
      'mlab_task/__init__.py': forged,
      'sitecustomize.py': forged,
    });
    expect((await validate(place)).observation).toContain('missing_file');
  });
});

test('without confinement, what a command left running may write: every later snapshot looks', async () => {
  await using place = await WorkspacePlace.open({
    files: { 'a.py': 'print(1)' },
    sandbox: { driver: 'none', python: bare.python },
  });
  await place.step('Execute Script', { script_name: 'a.py' });
  await place.step('Check Budget');
  writeFileSync(join(place.workspace, 'other.txt'), 'as such a process would');
  await place.step('Check Budget');
  const finished = place.events.filter((event) => event.kind === 'step_finished');
  expect(finished.at(-1)?.changed).toContain('other.txt');
});
