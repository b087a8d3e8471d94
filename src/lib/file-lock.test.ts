import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { runOnSmallDisk } from '../../test/fixtures/small-disk.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { acquireFileLock, type LockHolder, tryFileLock, withFileLock } from './file-lock.ts';
import { machineIdentity, processStartTime } from './process-identity.ts';

/** A lock whose highest ticket has this content. */
function lockHeldBy(ticket: object | string): string {
  const folder = join(temporaryFolder(), 'lock');
  mkdirSync(folder);
  writeFileSync(join(folder, '7'), typeof ticket === 'string' ? ticket : JSON.stringify(ticket));
  return folder;
}

const module = new URL('./file-lock.ts', import.meta.url).href;
const self = { state: 'held', pid: process.pid, machine: machineIdentity(), host: 'here' };
afterEach(() => void vi.useRealTimers());

const soon = () => AbortSignal.timeout(150);

describe('a file lock', () => {
  it('has one holder at a time', async () => {
    const folder = join(temporaryFolder(), 'deep', 'lock');
    let inside = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, ++inside);
      await sleep(1);
      inside--;
    };
    await Promise.all(Array.from({ length: 12 }, () => withFileLock(folder, {}, work)));
    expect(most).toBe(1);
    expect(existsSync(folder)).toBe(false);
  });

  it.each(['EPERM', 'ENOTSUP', 'ENOSYS'])('has one holder also where link() says %s', (code) => {
    const folder = temporaryFolder();
    const script = `
      import fs from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      fs.linkSync = () => {
        throw Object.assign(new Error('no links'), { code: '${code}' });
      };
      syncBuiltinESMExports();
      const { tryFileLock, withFileLock } = await import(${JSON.stringify(module)});
      let inside = 0;
      const work = async () => console.log(++inside, 'holder' in tryFileLock('lock'), --inside);
      await Promise.all([1, 2, 3].map(() => withFileLock('lock', {}, work)));
      console.log(fs.readdirSync('.'));`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      ...{ cwd: folder, encoding: 'utf8' },
    });
    expect(stderr).toBe('');
    expect(stdout).toBe(`${'1 true 0\n'.repeat(3)}[]\n`);
  });

  it('is released when the work fails, and a second release does nothing', async () => {
    const folder = join(temporaryFolder(), 'lock');
    const failing = withFileLock(folder, {}, async () => {
      throw new Error('no luck');
    });
    await expect(failing).rejects.toThrow('no luck');
    const lock = await acquireFileLock(folder, { signal: soon() });
    lock.release();
    using next = await acquireFileLock(folder, { signal: soon() });
    lock.release();
    await expect(acquireFileLock(folder, { signal: soon() })).rejects.toThrow();
    next.release();
  });

  it('that another process took over and released is left to its current holder', async () => {
    const folder = join(temporaryFolder(), 'lock');
    const taken = await acquireFileLock(folder);
    rmSync(folder, { recursive: true });
    using _next = await acquireFileLock(folder, { signal: soon() });
    taken.release();
    await expect(acquireFileLock(folder, { signal: soon() })).rejects.toThrow();
  });

  it('reports once for whom it waits, and stops waiting when it is aborted', async () => {
    const folder = join(temporaryFolder(), 'lock');
    using _held = await acquireFileLock(folder);
    const seen: LockHolder[] = [];
    const waiting = acquireFileLock(folder, { signal: soon(), onWait: (holder) => seen.push(holder) });
    await expect(waiting).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(seen.map(({ pid }) => pid)).toEqual([process.pid]);
  });

  it('is taken over from a process that ended without releasing it', async () => {
    const folder = join(temporaryFolder(), 'lock');
    const script = `import { acquireFileLock } from ${JSON.stringify(module)};
      await acquireFileLock(${JSON.stringify(folder)}); process.kill(process.pid, 'SIGKILL');`;
    const ended = spawnSync(process.execPath, ['--input-type=module', '-e', script]);
    expect(ended.signal).toBe('SIGKILL');
    (await acquireFileLock(folder, { signal: AbortSignal.timeout(5000) })).release();
  });

  it('is not held by a later process that got the same id', async () => {
    const started = processStartTime(process.pid);
    const held = lockHeldBy({ ...self, started });
    await expect(acquireFileLock(held, { signal: soon() })).rejects.toThrow();
    const reused = lockHeldBy({ ...self, started: `${started}0` });
    (await acquireFileLock(reused, { signal: soon() })).release();
  });

  it('waits for a process of another machine until its heartbeats stop', async () => {
    const folder = lockHeldBy({ ...self, machine: 'elsewhere', pid: 1, started: null });
    await expect(acquireFileLock(folder, { signal: soon() })).rejects.toThrow();
    const signal = AbortSignal.timeout(5000);
    (await acquireFileLock(folder, { silenceMs: 100, signal })).release();
  });

  it.each(['', '{"state":', '{"state":"odd"}'])(
    'does not get stuck on the damaged ticket %j',
    async (text) => {
      const folder = lockHeldBy(text);
      (await acquireFileLock(folder, { silenceMs: 100, signal: AbortSignal.timeout(5000) })).release();
    },
  );

  it('is held by a process of another machine whose clock is behind, as long as its heartbeats continue', () => {
    const folder = lockHeldBy({ ...self, machine: 'elsewhere', pid: 1, started: null });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 });
    expect(tryFileLock(folder)).toEqual({ holder: { pid: 1, host: 'here' } });
  });

  it('writes heartbeats with the clock of the file system, not with its own', async () => {
    const folder = join(temporaryFolder(), 'lock');
    const before = Date.now();
    vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'], now: before - 60_000 });
    using _held = await acquireFileLock(folder);
    const ticket = join(folder, '1');
    utimesSync(ticket, 0, 0);
    vi.advanceTimersByTime(5_000);
    expect(statSync(ticket).mtimeMs).toBeGreaterThan(before - 10_000);
  });

  it('is released when the disk is full', (context) => {
    const result = runOnSmallDisk(`
      import { openSync, unlinkSync, writeSync } from 'node:fs';
      import { acquireFileLock, tryFileLock } from ${JSON.stringify(module)};
      const lock = await acquireFileLock('lock');
      try {
        const ballast = openSync('ballast', 'w');
        for (;;) writeSync(ballast, Buffer.alloc(4096));
      } catch (error) {
        console.log(error.code);
      }
      lock.release();
      unlinkSync('ballast');
      console.log('lock' in tryFileLock('lock'));`);
    if ('obstacle' in result) return context.skip(result.obstacle);
    expect(result.printed).toBe('ENOSPC\ntrue\n');
  });
});
