import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { flagsForRuns } from '../scripts/project-node.mjs';

const root = join(import.meta.dirname, '..');
let scratch: string;

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'mlab-launcher-'));
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

function write(path: string, content: string, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  chmodSync(path, mode);
}

/** The launcher as npm would install it, with a main that prints how it was started. Returns its path. */
function installLauncher(main: string): string {
  const home = join(scratch, 'node_modules/mlagentbench');
  for (const folder of [
    'bin/mlab.mjs',
    'scripts/project-node.mjs',
    'scripts/hand-over.mjs',
    'package.json',
  ]) {
    cpSync(join(root, folder), join(home, folder));
  }
  write(join(home, 'dist/cli/main.js'), `export async function main(argv) { ${main} }`);
  return join(home, 'bin/mlab.mjs');
}

const sayVersionAndArguments = 'console.log(JSON.stringify([process.versions.node, ...argv])); return 0;';

/** A checkout with the same launcher, and the Node that set-up installed in it; default: this Node. */
function checkOut(main: string, program = `#!/bin/sh\nexec "${process.execPath}" "$@"\n`): string {
  const launcher = installLauncher(main);
  const own = join(dirname(dirname(launcher)), 'scripts/node');
  cpSync(join(root, 'scripts/node/package.json'), join(own, 'package.json'));
  const name = `node_modules/node-${process.platform}-${process.arch}/bin/node`;
  if (program !== '') write(join(own, name), program, 0o755);
  return launcher;
}

/** A folder for PATH with a Node that is new enough. */
function newNodeFolder(): string {
  mkdirSync(join(scratch, 'new'));
  symlinkSync(process.execPath, join(scratch, 'new/node'));
  return join(scratch, 'new');
}

/** A folder for PATH with a `node` that only prints this version. */
function oldNodeFolder(): string {
  write(join(scratch, 'old/node'), '#!/bin/sh\necho v18.20.4\n', 0o755);
  return join(scratch, 'old');
}

/** Arguments that make this Node report that it is too old; the launcher does not pass them on. */
function pretendToBeOld(): string[] {
  const preload = join(scratch, 'pretend.mjs');
  write(
    preload,
    "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.11.0' } });",
  );
  return ['--import', preload];
}

function variables(path: string): NodeJS.ProcessEnv {
  return { PATH: path, MLAB_CACHE: join(scratch, 'cache') };
}

function launch(launcher: string, options: { path: string; old: boolean; argv?: string[] }) {
  const before = options.old ? pretendToBeOld() : [];
  return spawnSync(process.execPath, [...before, launcher, ...(options.argv ?? [])], {
    encoding: 'utf8',
    env: variables(options.path),
  });
}

describe('the launcher', () => {
  test('runs the package in the Node that started it when that is new enough', () => {
    const launcher = installLauncher('console.log(process.pid); return argv.length;');
    const result = launch(launcher, { path: '/nowhere', old: false, argv: ['a', 'b', 'c'] });
    expect(result.stderr).toBe('');
    expect(Number(result.stdout)).toBe(result.pid);
    expect(result.status).toBe(3);
  });

  test('executes runs in the process that was started, with short pauses for collections of memory', () => {
    const launcher = installLauncher('console.log(JSON.stringify([process.pid, process.execArgv, argv]));');
    const calls = [
      { argv: ['run', '--name', 'a b'], flags: flagsForRuns },
      { argv: ['runs', 'retry', 'a'], flags: flagsForRuns },
      { argv: ['runs', 'ls'], flags: [] },
    ];
    for (const { argv, flags } of calls) {
      const result = launch(launcher, { path: '/nowhere', old: false, argv });
      expect(result.stderr).toBe('');
      expect(JSON.parse(result.stdout)).toEqual([result.pid, flags, argv]);
    }
  });

  test('says what to do if a package is missing', () => {
    const launcher = installLauncher('return 0;');
    const main = join(dirname(dirname(launcher)), 'dist/cli/main.js');
    write(main, "import 'no-such-package'; export async function main() { return 0; }");
    const result = launch(launcher, { path: '/nowhere', old: false });
    expect(result.status).toBe(3);
    expect(result.stderr).toMatch(
      /^mlab: Cannot find package 'no-such-package' .*\nIts npm packages are being installed, or are incomplete: wait, or .*\n$/,
    );
  });

  test('hands over to the Node that set-up installed in the checkout', () => {
    const launcher = checkOut(sayVersionAndArguments);
    const result = launch(launcher, { path: '/usr/bin:/bin', old: true, argv: ['run', '--name', 'a b'] });
    expect(result.stderr).toBe('');
    expect(JSON.parse(result.stdout)).toEqual([process.versions.node, 'run', '--name', 'a b']);
  });

  test('hands over to a newer Node on PATH', () => {
    const launcher = installLauncher(sayVersionAndArguments);
    const path = `${oldNodeFolder()}:${newNodeFolder()}:/usr/bin:/bin`;
    const result = launch(launcher, { path, old: true, argv: ['x'] });
    expect(result.stderr).toBe('');
    expect(JSON.parse(result.stdout)).toEqual([process.versions.node, 'x']);
  });

  test.each([
    ['is missing', ''],
    ['is not a program', 'This file intentionally left blank'],
    ['is for another platform', '#!/bin/sh\nexit 126\n'],
    ['is too old', '#!/bin/sh\necho v20.0.0\n'],
  ])("takes a newer Node from PATH if the checkout's %s", (_, program) => {
    const launcher = checkOut(sayVersionAndArguments, program);
    const path = `${oldNodeFolder()}:${newNodeFolder()}:/usr/bin:/bin`;
    const result = launch(launcher, { path, old: true, argv: ['x'] });
    expect(result.stderr).toBe('');
    expect(JSON.parse(result.stdout)).toEqual([process.versions.node, 'x']);
  });

  test('of the package says what to do if no Node is new enough', () => {
    const launcher = installLauncher(sayVersionAndArguments);
    const result = launch(launcher, { path: oldNodeFolder(), old: true });
    expect(result.status).toBe(3);
    expect(result.stdout).toBe('');
    expect(result.stderr).toContain('needs Node 22.18 or newer');
    expect(result.stderr).toContain('https://nodejs.org');
    expect(result.stderr).not.toContain('setup.mjs');
  });

  test('of a checkout that is not set up says what to do if no Node is new enough', () => {
    const launcher = checkOut(sayVersionAndArguments, '');
    const result = launch(launcher, { path: oldNodeFolder(), old: true });
    expect(result.status).toBe(3);
    expect(result.stderr).toContain('needs Node 24 or newer');
    expect(result.stderr).toContain(`node ${join(dirname(dirname(launcher)), 'scripts/setup.mjs')}`);
  });

  test('passes on the exit code and the signal of the Node that it handed over to', () => {
    const launcher = checkOut(
      "if (argv[0] === 'die') process.kill(process.pid, 'SIGKILL'); await new Promise(setImmediate); return 42;",
    );
    expect(launch(launcher, { path: '/usr/bin:/bin', old: true }).status).toBe(42);
    expect(launch(launcher, { path: '/usr/bin:/bin', old: true, argv: ['die'] }).signal).toBe('SIGKILL');
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'forwards %s once without a terminal',
    async (signal) => {
      const launcher = checkOut(countSignals);
      const child = spawn(process.execPath, [...pretendToBeOld(), launcher], {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: variables('/usr/bin:/bin'),
      });
      const printed = collect(child);
      await printed.until('ready');
      child.kill(signal);
      expect(await printed.ended).toMatchObject({ code: 7, text: `ready\n1 ${signal}\n` });
    },
  );

  test('lets Ctrl-C at a terminal reach the program exactly once', async (context) => {
    if (spawnSync('python3', ['-c', 'import pty']).status !== 0) context.skip('python3 makes the terminal');
    const launcher = checkOut(countSignals);
    const script = join(scratch, 'terminal.py');
    write(script, pressControlC);
    const child = spawn('python3', [script, process.execPath, ...pretendToBeOld(), launcher], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, MLAB_CACHE: join(scratch, 'cache') },
    });
    const { code, text } = await collect(child).ended;
    expect(text.replaceAll('\r', '').replace('^C', '')).toBe('ready\n1 SIGINT\n');
    expect(code).toBe(7);
  });
});

/** Prints `ready`, then the name of each signal; ends half a second after the first. */
const countSignals = `
  return new Promise((resolve) => {
    let count = 0;
    const idle = setTimeout(() => resolve(99), 20000);
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => {
      count++;
      console.log(count + ' ' + name);
      clearTimeout(idle);
      setTimeout(() => resolve(7), 500);
    });
    console.log('ready');
  });`;

/** Runs a command in a separate terminal, presses Ctrl-C when it prints `ready`, and ends with its exit code. */
const pressControlC = `
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
seen = b''
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        break
    if not piece:
        break
    if b'ready' in piece and b'ready' not in seen:
        os.write(terminal, b'\\x03')
    seen += piece
sys.stdout.buffer.write(seen)
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

function collect(child: ChildProcess) {
  let text = '';
  const waiting: { part: string; resolve: () => void }[] = [];
  child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
    for (const { part, resolve } of waiting) if (text.includes(part)) resolve();
  });
  const ended = new Promise<{ code: number | null; text: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, text }));
  });
  const until = (part: string) => new Promise<void>((resolve) => waiting.push({ part, resolve }));
  return { ended, until };
}
