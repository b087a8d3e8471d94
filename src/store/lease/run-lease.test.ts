import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { quickTimes } from '../../../test/fixtures/store/lease-times.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { thisProcess } from './lease-owner.ts';
import { clocks, newLeaseFile, RunLease, textOf } from './run-lease.ts';

test('a process that was stopped right after it took a lease looks whether it was followed before it writes', () => {
  const folder = temporaryFolder();
  const file = newLeaseFile(thisProcess());
  writeFileSync(join(folder, '2'), textOf(newLeaseFile(thisProcess())));
  const now = clocks();
  const begun = { steady: now.steady - quickTimes.silenceMs, wall: now.wall - quickTimes.silenceMs };
  using lease = new RunLease(folder, 1, file, { holder: null, isSilent: false }, quickTimes, begun);
  expect(() => lease.mayWrite()).toThrow(expect.objectContaining({ code: 'lease_lost' }));
  expect(lease.lost.aborted).toBe(true);
});
