import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { lastingMachineIdentity } from '../lib/process-identity.ts';
import { isOrphaned, ownedName } from './owner.ts';

const parts = ['prefix', 'machine', 'boot', 'namespace', 'pid', 'started', 'suffix'];

/** A name of this process in which one part differs. */
function nameWith(part: string, value: string): string {
  const values = ownedName('sandbox').split('-');
  expect(values).toHaveLength(parts.length);
  return values.with(parts.indexOf(part), value).join('-');
}

/** A process id that nobody has. */
const deadPid = String(spawnSync('true').pid);

describe('a name that belongs to a process', () => {
  it('is an orphan when that process has ended, or a later one has its id', () => {
    expect(isOrphaned(ownedName('sandbox'))).toBe(false);
    expect(isOrphaned(nameWith('pid', deadPid))).toBe(true);
    expect(isOrphaned(nameWith('started', '1'))).toBe(true);
  });

  it.skipIf(lastingMachineIdentity() === null)(
    'is an orphan when its machine was started again since',
    () => {
      expect(isOrphaned(nameWith('boot', '0123abcd'))).toBe(true);
    },
  );

  it.each(['machine', 'namespace'])(
    'is never an orphan if it is from another %s, whose process ids mean nothing here',
    (part) => {
      const elsewhere = nameWith(part, '0123').split('-').with(parts.indexOf('pid'), deadPid).join('-');
      expect(isOrphaned(elsewhere)).toBe(false);
    },
  );
});
