import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { busyCores, isBesideOthers, machineSeconds, ownSeconds, watchNeighbours } from './neighbours.ts';

test('the time of the machine excludes idle time and waiting for disks', () => {
  const text = 'cpu  100 20 300 99999 5000 10 20 50 77 88\ncpu0 1 2 3 4 5 6 7 8 9 10\n';
  expect(machineSeconds(text)).toBe(5);
});

test('the time of a process is its own and that of its children, whatever its name is', () => {
  const fields = 'S 1 2 3 4 5 6 7 8 9 10 100 200 300 400 20 0 1';
  expect(ownSeconds(`42 (a) (b 1 2 3) ${fields}`)).toBe(10);
});

test('the cores that others kept busy are those of the machine minus our own', () => {
  const before = { at: 10, machine: 1000, own: 7 };
  expect(busyCores(before, { at: 20, machine: 1025, own: 17 })).toBe(1.5);
  expect(busyCores(before, { at: 20, machine: 1010, own: 19 })).toBe(0);
});

test('a time is marked if others used more than half of the remaining cores', () => {
  expect([0.4, 0.6, null].map((busy) => isBesideOthers(busy, 2))).toEqual([false, true, false]);
  expect([3, 4].map((busy) => isBesideOthers(busy, 8))).toEqual([false, true]);
  expect([0.2, 0.3].map((busy) => isBesideOthers(busy, 1))).toEqual([false, true]);
});

test.skipIf(process.platform !== 'linux')(
  'another program is noticed, whether it has ended or not',
  async () => {
    const burner = spawn(process.execPath, ['-e', 'console.log(1); for (;;);']);
    await once(burner.stdout, 'data');
    const neighbours = watchNeighbours();
    await sleep(400);
    const seen = neighbours();
    burner.kill('SIGKILL');
    await once(burner, 'close');
    expect(seen).toBeGreaterThan(0.1);
  },
);
