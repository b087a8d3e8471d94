import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSandbox } from './create-sandbox.ts';
import type { Sandbox } from './sandbox.ts';
import { makePlace, obstacleTo, run, runProgram } from './test-support.ts';

const reason = process.getuid?.() === 0 ? await obstacleTo('bubblewrap') : 'only for root';
const place = makePlace();
let sandbox: Sandbox;

describe.skipIf(reason !== null)("root's agent code in bubblewrap", () => {
  beforeAll(async () => {
    place.file('workspace/starter.py', '');
    sandbox = await createSandbox('bubblewrap', place.spec());
  });

  afterAll(async () => {
    await sandbox[Symbol.asyncDispose]();
    place[Symbol.dispose]();
  });

  it('runs as a user without account, rights or groups, who owns the workspace', async () => {
    const { output } = await run(
      sandbox,
      'touch made; id -u; id -G; whoami; grep -E "^(Cap|NoNew)" /proc/self/status',
    );
    const [uid, groups, name, ...rights] = output.trim().split('\n');
    expect(Number(uid)).toBeGreaterThanOrEqual(61_184);
    expect(groups).toBe(uid);
    expect(name).toBe('agent');
    for (const line of rights) expect(line).toMatch(/:\s+(0+|1)$/);
    for (const file of ['', 'made', 'starter.py']) {
      expect(statSync(join(place.workspace, file)).uid).toBe(Number(uid));
    }
  });

  it('is the same user again in a later sandbox over the same folder', async () => {
    await using later = await createSandbox('bubblewrap', place.spec());
    expect((await run(later, 'id -u')).output).toBe((await run(sandbox, 'id -u')).output);
  });

  it('can neither read, end nor trace the first process, nor keep it from starting the next command', async () => {
    const attack = join(place.workspace, 'attack.py');
    cpSync(fileURLToPath(new URL('../../test/fixtures/attack-first-process.py', import.meta.url)), attack);
    const { output, ending } = await run(sandbox, 'python3 attack.py');
    expect({ output, ending }).toEqual({ output: 'went on\n', ending: 'exited' });
    expect((await run(sandbox, 'echo well')).output).toBe('well\n');
    rmSync(attack);
  });

  it('ends with the harness as before, and by its time limit', async () => {
    const end = await run(sandbox, 'trap "" TERM; sleep 60', { timeoutMs: 300 });
    expect(end.ending).toBe('timed_out');
  });

  it('can write to /dev/stdout and /dev/stderr, and use a folder that it closed to others', async () => {
    const { output } = await run(sandbox, 'chmod 700 .; echo one > /dev/stdout; echo two > /dev/stderr');
    expect(output).toBe('one\ntwo\n');
    expect((await run(sandbox, 'ls')).output).toContain('made');
  });

  it('reports an unreadable file instead of running as root', async () => {
    using other = makePlace();
    chmodSync(other.data, 0o700);
    await expect(createSandbox('bubblewrap', other.spec())).rejects.toMatchObject({
      name: 'SandboxError',
      message: expect.stringContaining(other.data),
      hint: expect.stringContaining('chmod -R a+rX'),
    });
  });

  it('changes no file that a link in the workspace leads to', async () => {
    using other = makePlace();
    const outside = other.file('outside.txt', '');
    mkdirSync(join(other.workspace, 'sub'));
    symlinkSync(outside, join(other.workspace, 'sub', 'link'));
    symlinkSync(other.root, join(other.workspace, 'sub', 'folder'));
    await using own = await createSandbox('bubblewrap', other.spec());
    await run(own, 'true');
    expect(statSync(outside).uid).toBe(0);
    expect(statSync(other.root).uid).toBe(0);
  });
});

const unable = await obstacleTo('bubblewrap');

describe.skipIf(unable !== null)('files that run as their owner', () => {
  it('cannot be created in a workspace', async () => {
    using own = makePlace();
    await using confined = await createSandbox('bubblewrap', own.spec());
    const script = [
      'import os',
      'def tried(what, *arguments):',
      '    try: what(*arguments); print("made")',
      '    except OSError as error: print(error.strerror)',
      'open("x", "w").close()',
      'tried(os.chmod, "x", 0o4755)',
      'tried(os.chmod, "x", 0o2755)',
      'tried(os.fchmod, os.open("x", os.O_RDONLY), 0o4755)',
      'tried(os.open, "y", os.O_CREAT | os.O_WRONLY, 0o6755)',
      'tried(os.open, ".", os.O_TMPFILE | os.O_WRONLY, 0o4755)',
      'tried(os.mknod, "z", 0o104755)',
      'tried(os.chmod, "x", 0o755)',
    ];
    const { output } = await runProgram(confined, ['/usr/bin/python3', '-c', script.join('\n')]);
    expect(output).toBe(`${'Operation not permitted\n'.repeat(6)}made\n`);
    for (const name of readdirSync(own.workspace)) {
      expect(statSync(join(own.workspace, name)).mode & 0o6000).toBe(0);
    }
  });

  it('have no effect: every mount is nosuid, and all except devices are nodev', async () => {
    using own = makePlace();
    writeFileSync(join(own.workspace, 'x'), '');
    await using confined = await createSandbox('bubblewrap', own.spec());
    const { output } = await run(confined, 'cat /proc/self/mountinfo');
    for (const line of output.trim().split('\n')) {
      const [, , , , target = '', flags = ''] = line.split(' ');
      expect(flags).toContain('nosuid');
      if (!target.startsWith('/dev/')) expect(flags).toContain('nodev');
    }
  });
});
