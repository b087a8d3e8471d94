import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';

const worker = new URL('../../test/fixtures/lock-worker.ts', import.meta.url).pathname;

function start(folder: string, rounds: number, how: 'wait' | 'try' = 'wait') {
  const child = spawn(process.execPath, [worker, folder, String(rounds), how], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { child, ended };
}

const rounds = (folder: string) =>
  existsSync(join(folder, 'rounds')) ? readFileSync(join(folder, 'rounds'), 'utf8').length : 0;

describe('a file lock between processes', () => {
  it('has one holder at a time', async () => {
    const folder = temporaryFolder();
    const workers = Array.from({ length: 6 }, () => start(folder, 60));
    expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual(Array(6).fill(0));
    expect(existsSync(join(folder, 'overlaps'))).toBe(false);
    expect(rounds(folder)).toBe(360);
  });

  it('has one holder at a time if nobody waits, but all try repeatedly', async () => {
    const folder = temporaryFolder();
    const workers = Array.from({ length: 6 }, () => start(folder, 100, 'try'));
    expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual(Array(6).fill(0));
    expect(existsSync(join(folder, 'overlaps'))).toBe(false);
    expect(rounds(folder)).toBe(600);
  });

  it('has one holder at a time while holders are killed, and never gets stuck', async () => {
    const folder = temporaryFolder();
    const steady = start(folder, 150);
    for (let kill = 0; kill < 20; kill++) {
      const victims = [start(folder, 10_000), start(folder, 10_000)];
      const before = rounds(folder);
      while (rounds(folder) < before + 3) await sleep(5);
      await sleep(Math.random() * 30);
      for (const { child } of victims) child.kill('SIGKILL');
      await Promise.all(victims.map(({ ended }) => ended));
    }
    expect(await steady.ended).toBe(0);
    expect(existsSync(join(folder, 'overlaps')) ? readFileSync(join(folder, 'overlaps'), 'utf8') : '').toBe(
      '',
    );
  });
});
