import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import {
  lockFile,
  looseRequirements,
  normaliseRequirements,
  readRequirements,
  withLock,
} from './requirements.ts';

describe('requirements', () => {
  it.each([
    'numpy==2.1.0',
    'scikit_learn == 1.5.2  # note',
    'a[b,c]==1',
    'x==1 ; python_version < "3.12"',
    'a==1!2.0+cpu',
  ])('%j is pinned', (line) => {
    expect(looseRequirements(line)).toEqual([]);
  });

  it.each([
    'numpy',
    'numpy>=2',
    'numpy==2.*',
    'numpy==1,<2',
    '-r other.txt',
    'git+https://example.org/x',
    'a==1 --hash=sha256:0',
    './wheel.whl',
  ])('%j is not pinned', (line) => {
    expect(looseRequirements(`ok==1\n\n# note\n${line}`)).toEqual([{ line: 4, text: line }]);
  });

  it('get the hashes of the lock beside their task, and of no other', () => {
    const tasks = temporaryFolder();
    const wanted = 'Six == 1.17.0\ntorch==2.13.0\n';
    expect(withLock(tasks, wanted)).toBe(wanted);
    const hashes = [0, 1].map((digit) => ` --hash=sha256:${String(digit).repeat(64)}`).join('');
    const file = lockFile(tasks, wanted);
    mkdirSync(dirname(file));
    writeFileSync(file, `six==1.17.0${hashes}\ntorch==2.13.0\n`);
    const locked = withLock(tasks, wanted);
    expect([...readRequirements(locked)]).toEqual([
      ['six==1.17.0', hashes],
      ['torch==2.13.0', ''],
    ]);
    expect(normaliseRequirements(locked)).toEqual(normaliseRequirements(wanted));
    writeFileSync(file, `six==1.16.0${hashes}\n`);
    expect(withLock(tasks, wanted)).toBe(wanted);
  });

  it('that mean the same environment become the same lines', () => {
    expect(normaliseRequirements('Scikit_Learn == 1.5.2\r\n\n# a note\nnumpy==2.1.0 # fast')).toEqual([
      'numpy==2.1.0',
      'scikit-learn==1.5.2',
    ]);
    const lines = fc.uniqueArray(
      fc.constantFrom('a==1', 'B_c==2', 'd==3; python_version < "3.11"', '', '# x'),
    );
    fc.assert(
      fc.property(lines, (some) => {
        expect(normaliseRequirements([...some].reverse().join('\n'))).toEqual(
          normaliseRequirements(some.join('\r\n')),
        );
      }),
    );
  });
});
