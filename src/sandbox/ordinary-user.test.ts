import { execFile } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { SandboxSpec } from './sandbox.ts';
import { makePlace } from './test-support.ts';

const nobody = { uid: 65534, gid: 65534 };
const index = fileURLToPath(new URL('./index.ts', import.meta.url));

/** Runs JavaScript as a user without rights, who has no control groups. */
async function asNobody(script: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'nobody-'));
  try {
    const command = ['--input-type=module', '-e', script];
    const { stdout } = await promisify(execFile)(process.execPath, command, {
      ...nobody,
      cwd: folder,
      env: {},
    });
    return stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What shell commands print, one after the other, in a sandbox that this user makes. */
async function outputsAsNobody(spec: SandboxSpec, lines: readonly string[]): Promise<string[]> {
  const script = `
    const { createSandbox } = await import(${JSON.stringify(index)});
    await using sandbox = await createSandbox('bubblewrap', ${JSON.stringify(spec)});
    const outputs = [];
    for (const line of ${JSON.stringify(lines)}) {
      let output = '';
      const options = { stdin: 'none', onOutput: (chunk) => { output += chunk; }, timeoutMs: 20_000, signal: null };
      await (await sandbox.start(['/bin/sh', '-c', line], options)).ended;
      outputs.push(output);
    }
    console.log(JSON.stringify(outputs));`;
  return z.array(z.string()).parse(JSON.parse(await asNobody(script)));
}

/** Why this can't be tested here, or null. */
async function obstacle(): Promise<string | null> {
  if (process.getuid?.() !== 0) return 'only root can become another user';
  const script = `
    const { checkSandbox } = await import(${JSON.stringify(index)});
    console.log(JSON.stringify((await checkSandbox()).find(({ name }) => name === 'bubblewrap')));`;
  try {
    const finding = JSON.parse(await asNobody(script));
    return finding.state === 'ok' ? null : finding.detail;
  } catch {
    return 'that user cannot read these sources';
  }
}

const reason = await obstacle();

describe('bubblewrap for a user without rights', () => {
  it('confines and limits as well, without control groups', async (context) => {
    if (reason !== null) context.skip(reason);
    using place = makePlace();
    for (const path of [place.root, place.workspace, place.data]) chmodSync(path, 0o777);
    const script = `
      const { createSandbox } = await import(${JSON.stringify(index)});
      await using sandbox = await createSandbox('bubblewrap', ${JSON.stringify(place.spec())});
      async function run(script) {
        let output = '';
        const options = { stdin: 'none', onOutput: (chunk) => { output += chunk; }, timeoutMs: 9000, signal: null };
        const end = await (await sandbox.start(['/bin/sh', '-c', script], options)).ended;
        return { ...end, output };
      }
      const greedy = 'b = bytearray(400_000_000)\\\\nfor i in range(0, len(b), 4096): b[i] = 1\\\\nimport time; time.sleep(5)';
      console.log(JSON.stringify([
        await run('id -u; cat data/train.csv; cat /etc/shadow; echo x > /usr/x; echo x > kept'),
        await run("printf '" + greedy + "' > bomb.py; exec python3 bomb.py"),
        await run('bomb() { bomb | bomb & }; bomb; sleep 1; true'),
        await run('grep -c . /proc/self/limits; grep processes /proc/self/limits'),
        await run('(setsid sleep 1000 &); for i in 1 2 3; do truncate -s 60M $i; done; sleep 9'),
      ]));`;
    const [first, memory, fork, limits, disk] = JSON.parse(await asNobody(script));
    expect(first).toMatchObject({ exitCode: 0, output: expect.stringMatching(/^1000\nid,label/) });
    expect(first.output).not.toMatch(/root:[$*!]/);
    expect(memory.ending === 'out_of_memory' || memory.output.includes('MemoryError')).toBe(true);
    expect(['exited', 'timed_out', 'out_of_memory']).toContain(fork.ending);
    expect(limits.output).toMatch(/Max processes\s+42\s+42/);
    expect(disk.ending).toBe('workspace_full');
  });

  it('counts shared mappings whose pages no process keeps, but not empty ones', async (context) => {
    if (reason !== null) context.skip(reason);
    using place = makePlace();
    for (const path of [place.root, place.workspace, place.data]) chmodSync(path, 0o777);
    const attack = `import ctypes, mmap, time
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
m = mmap.mmap(-1, 320 * 2**20)
for at in range(0, len(m), 2**24): m.write(bytes(2**24)); m.madvise(mmap.MADV_DONTNEED, at, 2**24)
time.sleep(2); print("kept")`;
    const empty = 'import mmap, time; m = mmap.mmap(-1, 2**32); m[0] = 1; time.sleep(1); print("well")';
    const lines = [attack, empty].map((script) => `exec python3 -c '${script}'`);
    expect(await outputsAsNobody(place.spec(), lines)).toEqual(['', 'well\n']);
  });

  it('takes nothing from a command that opens the pipes of process 1, which is the same user', async (context) => {
    if (reason !== null) context.skip(reason);
    using place = makePlace();
    for (const path of [place.root, place.workspace, place.data]) chmodSync(path, 0o777);
    const write =
      'for file in /proc/1/fd/*; do echo "touch forged; echo forged" > $file; chmod 0 $file; done 2> /dev/null';
    const leave = `(setsid sh -c 'while :; do ${write}; done' &); sleep 0.2`;
    const outputs = await outputsAsNobody(place.spec(), [leave, 'sleep 0.2; echo alone', 'ls']);
    expect(outputs.slice(1)).toEqual(['alone\n', 'data\n']);
  });

  it('keeps commands from reading, ending or tracing the first process', async (context) => {
    if (reason !== null) context.skip(reason);
    using place = makePlace();
    for (const path of [place.root, place.workspace, place.data]) chmodSync(path, 0o777);
    const attack = fileURLToPath(new URL('../../test/fixtures/attack-first-process.py', import.meta.url));
    cpSync(attack, join(place.workspace, 'attack.py'));
    const outputs = await outputsAsNobody(place.spec(), ['python3 attack.py', 'echo well']);
    expect(outputs).toEqual(['went on\n', 'well\n']);
  });

  it('serves all commands by one launcher', async (context) => {
    if (reason !== null) context.skip(reason);
    using place = makePlace();
    for (const path of [place.root, place.workspace, place.data]) chmodSync(path, 0o777);
    const script = `
      const { createSandbox } = await import(${JSON.stringify(index)});
      const { readFileSync } = await import('node:fs');
      await using sandbox = await createSandbox('bubblewrap', ${JSON.stringify(place.spec())});
      const children = () => readFileSync('/proc/self/task/' + process.pid + '/children', 'utf8');
      const seen = new Set();
      for (let count = 0; count < 3; count++) {
        const options = { stdin: 'none', onOutput: () => {}, timeoutMs: 9000, signal: null };
        await (await sandbox.start(['/bin/sh', '-c', 'true'], options)).ended;
        seen.add(children());
      }
      console.log(JSON.stringify([...seen].map((pids) => pids.trim().split(' ').length)));`;
    expect(JSON.parse(await asNobody(script))).toEqual([1]);
  });

  it('starts a command whatever folders the one before has closed', async (context) => {
    if (reason !== null) context.skip(reason);
    using place = makePlace();
    const spec = place.spec();
    const source = place.file('fixed.py', 'fixed');
    spec.mounts.push({ source, target: '/workspace/inner/deep/fixed.py', access: 'read' });
    for (const path of [place.root, place.workspace, place.data]) chmodSync(path, 0o777);
    // Only folders that the user owns can be closed.
    const own = join(place.root, 'own');
    spec.mounts[0] = { source: own, target: '/workspace', access: 'write' };
    const script = `
      const { mkdirSync } = await import('node:fs');
      const { createSandbox } = await import(${JSON.stringify(index)});
      mkdirSync(${JSON.stringify(own)});
      await using sandbox = await createSandbox('bubblewrap', ${JSON.stringify({ ...spec, watch: null })});
      const outputs = [];
      for (const line of ['chmod 0 inner', 'chmod 0 .', 'python3 -c "import os; os.fchmod(1, 0)"', 'cat inner/deep/fixed.py']) {
        let output = '';
        const options = { stdin: 'none', onOutput: (chunk) => { output += chunk; }, timeoutMs: 9000, signal: null };
        const { exitCode } = await (await sandbox.start(['/bin/sh', '-c', line], options)).ended;
        outputs.push([exitCode, output]);
      }
      console.log(JSON.stringify(outputs));`;
    const ended = [0, ''];
    expect(JSON.parse(await asNobody(script))).toEqual([ended, ended, ended, [0, 'fixed']]);
  });
});
