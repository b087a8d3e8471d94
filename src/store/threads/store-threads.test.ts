import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
const canDropRights = process.getuid?.() !== 0 || process.platform === 'linux';

/** Starts a thread that removes a folder that does not exist. */
const source = `
const { StoreThread } = await import(${JSON.stringify(join(import.meta.dirname, 'store-threads.ts'))});
await new StoreThread().do({ kind: 'remove', folder: '/there-is-no-such-folder' });
console.log('removed');`;

test.skipIf(!canDropRights)(
  'a thread works for an ordinary user whose processes let all others go first',
  () => {
    const [program = '', ...rest] = [
      ...(process.getuid?.() === 0 ? nobody : []),
      ...['nice', '-n', '19', process.execPath, '--eval', source],
    ];
    expect(execFileSync(program, rest, { encoding: 'utf8' })).toBe('removed\n');
  },
);
