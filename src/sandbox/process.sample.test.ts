import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../test/fixtures/until.ts';
import { createSandbox } from './create-sandbox.ts';
import { hierarchies } from './limits/cgroup-files.ts';
import type { Sandbox } from './sandbox.ts';
import { makePlace, obstacleTo, type Place, run } from './test-support.ts';

const obstacle = await obstacleTo('bubblewrap');

/** Host processes whose command line contains this text. */
function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(text);
      } catch {
        return false;
      }
    });
}

describe.each(['bubblewrap', 'none'] as const)('a command in %s', (driver) => {
  let place: Place;
  let sandbox: Sandbox;
  let token: string;

  beforeEach(async (context) => {
    if (driver === 'bubblewrap' && obstacle !== null) context.skip(obstacle);
    place = makePlace();
    sandbox = await createSandbox(driver, place.spec());
    token = `9${String(Math.random()).slice(2, 9)}`;
  });

  afterEach(async () => {
    await sandbox?.[Symbol.asyncDispose]();
    place?.[Symbol.dispose]();
  });

  it('reports its exit code, or the signal that ended it', async () => {
    expect(await run(sandbox, 'exit 7')).toMatchObject({ ending: 'exited', exitCode: 7, signal: null });
    expect(await run(sandbox, 'kill -9 $$')).toMatchObject({
      ending: 'exited',
      exitCode: null,
      signal: 'SIGKILL',
    });
  });

  it('has its standard output and standard error in the order in which they were printed', async () => {
    const script =
      'i=0; while [ $i -lt 200 ]; do echo out $i; echo err $i >&2; echo dev $i > /dev/stderr; i=$((i+1)); done';
    const expected = Array.from({ length: 200 }, (_, i) => `out ${i}\nerr ${i}\ndev ${i}\n`).join('');
    expect((await run(sandbox, script)).output).toBe(expected);
  });

  it('keeps all of a long output', async () => {
    expect((await run(sandbox, 'head -c 5000000 /dev/zero; echo end')).output).toHaveLength(5_000_004);
  });

  it('ends the daemons that it leaves, however they hide', async () => {
    const script = `setsid sleep ${token} & (setsid sh -c 'trap "" TERM HUP; sleep ${token}; true' &) ; (sleep ${token} &); echo done`;
    expect(await run(sandbox, script)).toMatchObject({ ending: 'exited', exitCode: 0, output: 'done\n' });
    expect(processesWith(token)).toEqual([]);
  });

  it('is killed when it ignores SIGTERM, and its output is kept', async () => {
    const script = `trap "echo no" TERM; echo hello; while true; do sleep 0.1; : ${token}; done`;
    const end = await run(sandbox, script, { timeoutMs: 300 });
    expect(end).toMatchObject({ ending: 'timed_out', exitCode: null, signal: 'SIGKILL' });
    expect(end.output).toMatch(/^hello\n/);
    expect(end.output).toContain('no\n');
    expect(processesWith(token)).toEqual([]);
  });

  it('may end itself on SIGTERM, which all its processes get', async () => {
    const script =
      'trap "echo parent; wait; exit 5" TERM; (trap "echo child; exit" TERM; while :; do sleep 0.05; done) & while :; do sleep 0.05; done';
    const end = await run(sandbox, script, { timeoutMs: 400 });
    expect(end).toMatchObject({ ending: 'timed_out', exitCode: 5 });
    expect(end.output).toContain('parent');
    expect(end.output).toContain('child');
  });

  it('ends when its signal is aborted, also when that was before the start', async () => {
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 200);
    expect((await run(sandbox, 'sleep 50', { signal: abort.signal })).ending).toBe('aborted');
    expect((await run(sandbox, 'sleep 50', { signal: abort.signal })).ending).toBe('aborted');
  });

  /** Starts a command that has an input, and collects its output. */
  async function startWithInput(script: string) {
    const printed: Buffer[] = [];
    const process = await sandbox.start(['/bin/sh', '-c', script], {
      ...{ stdin: 'pipe', timeoutMs: null, signal: null },
      onOutput: (chunk) => void printed.push(chunk),
    });
    return { process, output: () => Buffer.concat(printed).toString() };
  }

  it('communicates with its owner over standard input', async () => {
    const { process, output } = await startWithInput(
      'while read -r line; do echo "got $line"; done; echo bye',
    );
    process.write('one\n');
    await until('the first is read', () => output() === 'got one\n');
    process.write('two\n');
    await until('the second is read', () => output() === 'got one\ngot two\n');
    process.endInput();
    expect(await process.ended).toMatchObject({ ending: 'exited', exitCode: 0 });
    process.write('late\n');
    expect(output()).toBe('got one\ngot two\nbye\n');
  });

  it.each([
    ['of two lines', ':\n'],
    ['that is long', `: ${'x'.repeat(9_000)};`],
  ])('%s gets all of its input, also what is written at once', async (_, before) => {
    for (let attempt = 0; attempt < 10; attempt++) {
      const { process, output } = await startWithInput(`${before} cat`);
      process.write('echo not a command\n');
      process.endInput();
      await process.ended;
      expect(output()).toBe('echo not a command\n');
    }
  });

  it('is killed on request, and with its sandbox', async () => {
    const options = { stdin: 'none', onOutput: () => {}, timeoutMs: null, signal: null } as const;
    const first = await sandbox.start(['sleep', token], options);
    expect(await first.kill()).toMatchObject({ ending: 'aborted', signal: 'SIGTERM' });
    const second = await sandbox.start(['sleep', token], options);
    await sandbox[Symbol.asyncDispose]();
    expect((await second.ended).ending).toBe('aborted');
    expect(processesWith(token)).toEqual([]);
  });

  it('fails like a program that cannot be run when no kernel would accept its arguments', async () => {
    const long = await run(sandbox, `: ${'x'.repeat(200_000)}`);
    expect(long).toMatchObject({
      ending: 'exited',
      exitCode: 126,
      output: expect.stringContaining('too long'),
    });
    expect(await run(sandbox, 'echo \0')).toMatchObject({ ending: 'exited', exitCode: 126 });
    expect((await run(sandbox, `: ${'x'.repeat(120_000)}; echo fits`)).output).toBe('fits\n');
  });

  it('runs in parallel with others', async () => {
    const ends = await Promise.all(Array.from({ length: 6 }, (_, i) => run(sandbox, `sleep 0.1; echo ${i}`)));
    expect(ends.map(({ output }) => output)).toEqual(['0\n', '1\n', '2\n', '3\n', '4\n', '5\n']);
  });

  it('sees the data where pathInside says', async () => {
    const path = sandbox.pathInside('/workspace/data/train.csv');
    expect((await run(sandbox, `cat ${path} data/train.csv`)).output).toBe('id,label\n1,0\n'.repeat(2));
  });
});

describe('a harness that is killed with SIGKILL', () => {
  it('ends its sandbox, and the next harness removes what it left', async (context) => {
    if (obstacle !== null) context.skip(obstacle);
    using place = makePlace();
    const token = `8${String(Math.random()).slice(2, 9)}`;
    const index = fileURLToPath(new URL('./index.ts', import.meta.url));
    const start = (then: string) => {
      const script = `
      const { createSandbox } = await import(${JSON.stringify(index)});
      const sandbox = await createSandbox('bubblewrap', ${JSON.stringify(place.spec())});
      const options = { stdin: 'none', onOutput: () => {}, timeoutMs: null, signal: null };
      ${then}`;
      return spawn(process.execPath, ['--input-type=module', '-e', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
    };
    const harness = start(
      `await sandbox.start(['/bin/sh', '-c', 'setsid sleep ${token} & sleep ${token}; true'], options);
      console.log('ready');`,
    );
    await new Promise<void>((resolve) => harness.stdout.once('data', () => resolve()));
    const folder = readdirSync('/tmp').find(
      (name) => name.startsWith('mlab-') && name.includes(`-${harness.pid}-`),
    );
    await until('they run', () => processesWith(token).length >= 2);
    harness.kill('SIGKILL');
    await until('they are gone', () => processesWith(token).length === 0, 10);
    const next = start('await sandbox[Symbol.asyncDispose]();');
    await new Promise<void>((resolve) => next.once('exit', () => resolve()));
    expect(existsSync(join('/tmp', folder ?? 'none'))).toBe(false);
    const groups = hierarchies().flatMap((hierarchy) => readdirSync(hierarchy.folder));
    expect(groups.filter((name) => name.includes(`-${harness.pid}-`))).toEqual([]);
  });
});
