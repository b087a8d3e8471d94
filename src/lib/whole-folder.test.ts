import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { makeWholeFolder, wholeNamesIn } from './whole-folder.ts';

const never = new AbortController().signal;
const write = (text: string) => async (part: string) => {
  writeFileSync(join(part, 'a.txt'), text);
  mkdirSync(join(part, 'inner'));
};

describe('a folder that is made atomically', () => {
  test('does not exist before it is complete', async () => {
    const parent = temporaryFolder();
    const folder = join(parent, 'deep/new');
    await makeWholeFolder(folder, never, async (part) => {
      await write('new')(part);
      expect(readdirSync(join(parent, 'deep'))).not.toContain('new');
    });
    expect(readdirSync(join(parent, 'deep'))).toEqual(['new']);
    expect(readdirSync(folder)).toEqual(['a.txt', 'inner']);
  });

  test('may exist already: its entries are replaced by new ones of the same name', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'a.txt'), 'old');
    mkdirSync(join(folder, 'inner/old'), { recursive: true });
    writeFileSync(join(folder, 'mine'), 'mine');
    await makeWholeFolder(folder, never, async (part) => {
      await write('new')(part);
      expect(wholeNamesIn(folder)).toEqual(['a.txt', 'inner', 'mine']);
      expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('old');
    });
    expect(readdirSync(folder)).toEqual(['a.txt', 'inner', 'mine']);
    expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('new');
    expect(readdirSync(join(folder, 'inner'))).toEqual([]);
  });

  test.each([true, false])(
    'leaves nothing if making it fails or is aborted; it existed before: %s',
    async (isThere) => {
      const parent = temporaryFolder();
      const folder = join(parent, 'new');
      if (isThere) mkdirSync(folder);
      const before = readdirSync(parent, { recursive: true });
      const failing = makeWholeFolder(folder, never, async (part) => {
        await write('new')(part);
        throw new Error('no');
      });
      await expect(failing).rejects.toThrow('no');
      await expect(
        makeWholeFolder(folder, AbortSignal.abort(new Error('stop')), write('new')),
      ).rejects.toThrow('stop');
      expect(readdirSync(parent, { recursive: true })).toEqual(before);
    },
  );

  test('is made again without the part that a killed process left', async () => {
    const parent = temporaryFolder();
    const folder = join(parent, 'new');
    const program = `
      import { makeWholeFolder } from ${JSON.stringify(join(import.meta.dirname, 'whole-folder.ts'))};
      import { writeFileSync } from 'node:fs';
      await makeWholeFolder(${JSON.stringify(folder)}, new AbortController().signal, async (part) => {
        writeFileSync(part + '/b.txt', 'b');
        process.kill(process.pid, 'SIGKILL');
        await new Promise(() => setInterval(() => {}, 1000));
      });
    `;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program]);
    await once(child, 'close');
    expect(readdirSync(parent)).toEqual([expect.stringMatching(/^\.new\.mlab-part-/)]);
    // Another process's part is not touched while it is alive.
    await makeWholeFolder(folder, never, async (part) => {
      await makeWholeFolder(join(parent, 'other'), never, write('other'));
      await write('new')(part);
    });
    expect(readdirSync(parent)).toEqual(['new', 'other']);
    expect(readdirSync(folder)).toEqual(['a.txt', 'inner']);
  });
});
