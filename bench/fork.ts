import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openWorkspaceVolume } from '../src/sandbox/index.ts';
import { openBenchRun } from './bench-run.ts';
import { type Benchmark, median } from './benchmark.ts';
import { folderSize } from './folder-size.ts';
import { keepFreeMemory } from './kept-memory.ts';
import { provision } from './task-resources.ts';

const look = { name: 'Write File', args: { file_name: 'notes.txt', content: 'seen' } };
const forks = 7;

export const fork: Benchmark = {
  name: 'fork',
  summary: 'a branch of a workspace of 1,000 files and 100 MB, until its first step is done',
  async measure({ quick, scratch, cache, log, signal }) {
    const files = quick ? 100 : 1_000;
    const bytesOfFile = quick ? 1_000 : 100_000;
    using _ = quick ? null : keepFreeMemory(log);
    log('filling the workspace');
    const disk = join(scratch, 'disk');
    // For minutes after files are deleted, ext4 makes new ones several times slower: it searches for unused inodes.
    await using volume = await openWorkspaceVolume(disk, 25 * files * bytesOfFile);
    if (volume.reason !== null) log(`on the machine's own file system: ${volume.reason}`);
    await using run = await openBenchRun({
      resources: await provision(cache, signal),
      folder: join(disk, 'experiment'),
      sandbox: 'none',
      fill: (workspace) => fill(workspace, files, bytesOfFile),
      signal,
    });
    const { environment, folder, workspace } = run;
    // Files that were just written are read again; after the first steps that no longer happens.
    for (let step = 0; step < 3; step += 1) await environment.step(look);
    const before = folderSize(folder.objects.folder).bytes;
    const fromOpen: number[] = [];
    const copies: number[] = [];
    for (let index = 0; index < forks; index += 1) {
      writeBack();
      const start = performance.now();
      const branch = await environment.fork();
      await branch.step(look);
      fromOpen.push(performance.now() - start);
      copies.push(copy(workspace, join(disk, `copy-${index}`)));
    }
    const added = folderSize(folder.objects.folder).bytes - before;
    const what = `${files} files and ${(files * bytesOfFile) / 1e6} MB`;
    return [
      {
        what: `fork of a workspace of ${what}, with its first step`,
        ...{ value: median(fromOpen), unit: 'ms', atMost: 100 },
        note: `median of ${forks}: ${fromOpen.map((time) => time.toFixed(0)).join(', ')}; from a workspace that is open`,
      },
      {
        what: '`cp -r` of the same workspace',
        ...{ value: median(copies), unit: 'ms', atMost: null },
        note: `in turns with the forks: ${copies.map((time) => time.toFixed(0)).join(', ')}`,
      },
      {
        what: `added to the store by ${forks} forks`,
        ...{ value: added / 1e6, unit: 'MB', atMost: 1 },
        note: 'objects alone',
      },
    ];
  },
};

/** Otherwise the kernel writes what was copied before, at some time, in the middle of a copy. */
function writeBack(): void {
  execFileSync('sync');
}

/** The time that the machine needs for the files alone, in milliseconds. */
function copy(workspace: string, target: string): number {
  writeBack();
  const start = performance.now();
  execFileSync('cp', ['-r', workspace, target]);
  return performance.now() - start;
}

/** Incompressible content. */
function fill(workspace: string, files: number, bytesOfFile: number): void {
  for (let number = 0; number < files; number += 1) {
    const folder = join(workspace, `part-${number % 20}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `file-${number}.bin`), randomBytes(bytesOfFile));
  }
}
