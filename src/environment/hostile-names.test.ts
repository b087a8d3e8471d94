import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { WorkspaceFiles } from './workspace-files.ts';

const onLinux = process.platform === 'linux';

function filesOf(workspace: string): WorkspaceFiles {
  return new WorkspaceFiles({ workspace, readOnly: {}, isReadOnly: () => false, bytesLeft: () => 2 ** 20 });
}

test.skipIf(!onLinux)(
  'names that are not text are listed as JSON writes them, and can be read by that',
  () => {
    const workspace = temporaryFolder();
    mkdirSync(Buffer.from(`${workspace}/\xff`, 'latin1'));
    writeFileSync(Buffer.from(`${workspace}/\xff/caf\xe9`, 'latin1'), 'content');
    writeFileSync(join(workspace, 'two\nlines'), '');
    const files = filesOf(workspace);
    expect(files.list('.')).toEqual(['"\\udcff"/', '"two\\nlines"']);
    expect(files.list('\udcff')).toEqual(['"caf\\udce9"']);
    expect(files.readWhole('\udcff/caf\udce9', 100).toString()).toBe('content');
    expect(() => files.readWhole('\ud800', 100)).toThrow('No file can have this name.');
  },
);

test.skipIf(!onLinux)('a file under a lease is refused at once', async () => {
  const workspace = temporaryFolder();
  writeFileSync(join(workspace, 'leased'), 'content');
  const holder = spawn('python3', [
    '-c',
    `import fcntl, os, signal, sys
signal.signal(signal.SIGIO, signal.SIG_IGN)
file = os.open(sys.argv[1], os.O_RDWR)
fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
print('held', flush=True)
sys.stdin.read()`,
    join(workspace, 'leased'),
  ]);
  await once(holder.stdout, 'data');
  const start = performance.now();
  const files = filesOf(workspace);
  expect(() => files.readWhole('leased', 100)).toThrow('held by another process');
  expect(() => files.write('leased', Buffer.from('new'), 'replace')).toThrow('held by another process');
  expect(performance.now() - start).toBeLessThan(1_000);
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  expect(files.readWhole('leased', 100).toString()).toBe('content');
});
