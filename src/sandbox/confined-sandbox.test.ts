import { mkdirSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { createSandbox } from './create-sandbox.ts';
import { hierarchies } from './limits/cgroup-files.ts';
import { OutputPipes } from './output-pipe.ts';
import { makePlace, obstacleTo } from './test-support.ts';

const options = { stdin: 'none', onOutput: () => {}, timeoutMs: null, signal: null } as const;
let temporary: string;

beforeEach(() => {
  temporary = temporaryFolder();
  vi.stubEnv('TMPDIR', temporary);
});
afterEach(() => vi.unstubAllEnvs());

/** Files of sandboxes that this process has open. */
const openFiles = () =>
  readdirSync('/proc/self/fd').flatMap((file) => {
    const path = readLinkIfThere(`/proc/self/fd/${file}`);
    return path.startsWith(temporary) ? [path] : [];
  });
const ownGroups = () =>
  hierarchies()
    .flatMap(({ folder }) => readdirSync(folder))
    .filter((name) => name.includes(`-${process.pid}-`));

describe('a sandbox', () => {
  it('ends a command that is starting when the sandbox is closed', async () => {
    using place = makePlace();
    const sandbox = await createSandbox('none', place.spec());
    const starting = sandbox.start(['sleep', '20'], options);
    await sandbox[Symbol.asyncDispose]();
    expect(await (await starting).ended).toMatchObject({ ending: 'aborted' });
  }, 5_000);

  it('leaves no open file when the pipe for the output cannot be written to', async () => {
    const pipes = new OutputPipes(temporary);
    const pipe = await pipes.open();
    pipe.closeWriteEnd();
    pipe.reader.destroy();
    for (const name of readdirSync(temporary)) {
      rmSync(join(temporary, name));
      mkdirSync(join(temporary, name));
    }
    const before = openFiles();
    await expect(pipes.open()).rejects.toThrow('EISDIR');
    expect(openFiles()).toEqual(before);
  });

  it('leaves no open file and no control group when a command does not start', async (context) => {
    const obstacle = await obstacleTo('bubblewrap');
    if (obstacle !== null) context.skip(obstacle);
    using place = makePlace();
    await using sandbox = await createSandbox('bubblewrap', place.spec());
    const runtime = join(temporary, readdirSync(temporary).find((name) => name.startsWith('mlab-')) ?? '');
    rmSync(join(runtime, 'filter'));
    const before = { files: openFiles(), groups: ownGroups() };
    await expect(sandbox.start(['true'], options)).rejects.toThrow('filter');
    expect({ files: openFiles(), groups: ownGroups() }).toEqual(before);
  });
});

function readLinkIfThere(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
