import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { ownedFolder, ownedSocketFolder } from './owned-folder.ts';

const program = `
import { ownedFolder } from ${JSON.stringify(join(import.meta.dirname, 'owned-folder.ts'))};
process.stdout.write(ownedFolder('grade'));
setInterval(() => {}, 1000);
`;

/** A process that has made such a folder. */
async function owner() {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [path] = await once(child.stdout, 'data');
  return { child, path: String(path) };
}

test('a folder of a killed process is removed by the next process that makes such a folder; that of a live one stays', async () => {
  const [killed, live] = await Promise.all([owner(), owner()]);
  mkdirSync(join(killed.path, 'closed'));
  chmodSync(join(killed.path, 'closed'), 0o000);
  const own = ownedFolder('grade');
  expect([killed.path, live.path].every((path) => existsSync(path))).toBe(true);
  killed.child.kill('SIGKILL');
  await once(killed.child, 'exit');
  const next = await owner();
  expect(existsSync(killed.path)).toBe(false);
  expect(existsSync(live.path)).toBe(true);
  expect(existsSync(own)).toBe(true);
  live.child.kill();
  next.child.kill();
  for (const path of [own, next.path, live.path]) rmSync(path, { recursive: true });
});

test('a folder for sockets is in /tmp where the path in the usual place would be too long', () => {
  const long = join(temporaryFolder(), 'd'.repeat(60));
  mkdirSync(long);
  vi.stubEnv('TMPDIR', long);
  const paths = [ownedSocketFolder('p'), ownedFolder('grade')];
  vi.unstubAllEnvs();
  expect(paths.map((path) => dirname(path))).toEqual(['/tmp', long]);
  for (const path of paths) rmSync(path, { recursive: true });
});

test('the path of a folder is short enough for the longest name of a socket', () => {
  const path = ownedSocketFolder('s');
  expect(
    Buffer.byteLength(join('/tmp', path.split('/').at(-1) ?? '', `${'a'.repeat(31)}.sock`)),
  ).toBeLessThan(108);
  rmSync(path, { recursive: true });
});
