import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { removedFileBytes } from './process-tree.ts';

describe.skipIf(process.platform !== 'linux')('disk space of removed files that are open', () => {
  let folder: string;
  let child: ChildProcess;

  beforeEach(async () => {
    folder = temporaryFolder();
    const source = `import os, sys
file = os.open("x", os.O_RDWR | os.O_CREAT); os.unlink("x"); os.write(file, bytes(2**20)); os.fsync(file)
for _ in range(900): os.dup(file)
print("ready", flush=True); sys.stdin.read()`;
    child = spawn('python3', ['-c', source], { cwd: folder, stdio: ['pipe', 'pipe', 'inherit'] });
    if (child.stdout !== null) await once(child.stdout, 'data');
  });
  afterEach(async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  });

  it('counts a file once, however often it is open, and yields to the event loop', async () => {
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 0);
    const bytes = await removedFileBytes(Array(20).fill(child.pid), statSync(folder).dev);
    clearInterval(timer);
    expect(bytes).toBe(2 ** 20);
    expect(turns).toBeGreaterThan(3);
  });

  it('is infinite if there are too many open files to check', async () => {
    expect(await removedFileBytes(Array(200).fill(child.pid), statSync(folder).dev)).toBe(
      Number.POSITIVE_INFINITY,
    );
  });
});
