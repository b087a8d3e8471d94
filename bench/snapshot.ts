import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mountPoints } from '../src/environment/index.ts';
import { ObjectStore, Snapshotter } from '../src/store/index.ts';
import { type BenchRun, openBenchRun } from './bench-run.ts';
import { type Benchmark, type Measurement, median } from './benchmark.ts';
import { provision } from './task-resources.ts';

const megabyte = 1e6;
/** The size of the original's logs after 50 steps in such a workspace, as issue 2 states it. */
const originalBytes = 5.1e9;
const originalShare = 45;
const steps = 50;

interface Size {
  smallFiles: number;
  largeFiles: number;
  largeBytes: number;
  /** In another workspace, of small files only. */
  manyFiles: number;
}

export const snapshot: Benchmark = {
  name: 'snapshot',
  summary: 'the snapshot after a step in a workspace of 1,000 small files and 100 MB',
  async measure({ quick, scratch, cache, log, signal }) {
    const size: Size = quick
      ? { smallFiles: 100, largeFiles: 2, largeBytes: megabyte, manyFiles: 1_000 }
      : { smallFiles: 1_000, largeFiles: 4, largeBytes: 25 * megabyte, manyFiles: 100_000 };
    log('filling the workspace');
    await using run = await openBenchRun({
      resources: await provision(cache, signal),
      folder: join(scratch, 'experiment'),
      sandbox: 'none',
      fill: (workspace) => fill(workspace, size),
      signal,
    });
    const { unchanged, own } = await lookOnly(run);
    const storeUnchanged = storedBytes(run);
    const changed = await changeOne(run);
    const storeChanged = storedBytes(run);
    const what = `${size.smallFiles} small files and ${(size.largeFiles * size.largeBytes) / megabyte} MB`;
    log(`a workspace of ${size.manyFiles} files`);
    return [
      ...measurementsOf(what, { unchanged, own, changed, storeUnchanged, storeChanged }),
      await firstOfMany(scratch, size.manyFiles),
    ];
  },
};

/** The first snapshot of a workspace of small files with different contents. */
async function firstOfMany(scratch: string, count: number): Promise<Measurement> {
  const workspace = join(scratch, 'many');
  fill(workspace, { smallFiles: count, largeFiles: 0, largeBytes: 0 });
  using snapshotter = new Snapshotter(new ObjectStore(join(scratch, 'many-objects')), workspace);
  const start = performance.now();
  await snapshotter.take();
  const value = performance.now() - start;
  const what = `first snapshot of ${count} small files`;
  return { what, value, unit: 'ms', atMost: null, note: 'in another workspace' };
}

function fill(workspace: string, { smallFiles, largeFiles, largeBytes }: Omit<Size, 'manyFiles'>): void {
  for (let number = 0; number < smallFiles; number++) {
    const folder = join(workspace, `part-${number % 20}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `small-${number}.txt`), `${number} `.repeat(300));
  }
  // Incompressible content.
  for (let number = 0; number < largeFiles; number++) {
    writeFileSync(join(workspace, `large-${number}.bin`), randomBytes(largeBytes));
  }
}

/** Steps that change nothing: the snapshots alone, and the total cost of such a step besides its work. */
async function lookOnly({ environment, snapshotter }: BenchRun) {
  const unchanged: number[] = [];
  const own: number[] = [];
  // Files that were just written are read again; after the first snapshot that no longer happens.
  await snapshotter.take({ ignore: mountPoints });
  for (let step = 0; step < steps; step++) {
    own.push(await ownCost(() => environment.step({ name: 'Check Budget', args: {} })));
    const start = performance.now();
    await snapshotter.take({ ignore: mountPoints });
    unchanged.push(performance.now() - start);
  }
  return { unchanged, own };
}

/** Steps that each rewrite one small file. */
async function changeOne({ environment }: BenchRun): Promise<number[]> {
  const costs: number[] = [];
  for (let step = 0; step < steps; step++) {
    const args = { file_name: 'part-3/small-3.txt', content: `step ${step} `.repeat(200) };
    costs.push(await ownCost(() => environment.step({ name: 'Write File', args })));
  }
  return costs;
}

async function ownCost(step: () => Promise<{ durationMs: number }>): Promise<number> {
  const start = performance.now();
  const { durationMs } = await step();
  return performance.now() - start - durationMs;
}

/** Disk space of everything that is stored of the run, in bytes: objects, trace, records; not the workspace. */
function storedBytes({ folder }: BenchRun): number {
  return diskBytes(folder.objects.folder) + diskBytes(folder.tracePath);
}

function diskBytes(path: string): number {
  const stat = statSync(path);
  const below = stat.isDirectory() ? readdirSync(path).map((name) => diskBytes(join(path, name))) : [];
  return below.reduce((sum, bytes) => sum + bytes, stat.blocks * 512);
}

interface Measured {
  unchanged: number[];
  own: number[];
  changed: number[];
  storeUnchanged: number;
  storeChanged: number;
}

function measurementsOf(what: string, measured: Measured): Measurement[] {
  const most = originalBytes / originalShare;
  return [
    {
      ...{ what: 'snapshot, nothing changed', value: median(measured.unchanged), unit: 'ms', atMost: 8 },
      note: `median of ${steps}; ${what}`,
    },
    {
      ...{ what: 'all that such a step costs', value: median(measured.own), unit: 'ms', atMost: null },
      note: `median of ${steps}: with validating and tracing`,
    },
    {
      ...{
        what: 'a step that changes one small file',
        value: median(measured.changed),
        unit: 'ms',
        atMost: null,
      },
      note: `median of ${steps}, without writing the file`,
    },
    {
      ...{ what: `store after ${steps} steps`, value: measured.storeUnchanged, unit: 'bytes', atMost: most },
      note: `disk space; the target is 1/${originalShare} of ${originalBytes / 1e9} GB`,
    },
    {
      ...{
        what: `after ${steps} more that change a file`,
        value: measured.storeChanged,
        unit: 'bytes',
        atMost: null,
      },
      note: 'disk space of all 100 steps',
    },
  ];
}
