import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { UserError } from '../src/lib/errors.ts';
import { findChromium, startChromium } from '../test/fixtures/chromium.ts';
import type { BenchContext, Benchmark, Measurement } from './benchmark.ts';
import { folderSize } from './folder-size.ts';
import { viewRuns } from './inspect/first-rows.ts';
import { inspectSide, type MadeRuns, mlabSide, outputOf, type Program, type Side } from './inspect/sides.ts';
import { childrenCpuMs } from './machine.ts';
import { type Pair, sideBySide } from './side-by-side.ts';
import { buildPages } from './task-resources.ts';

/** Steps of one run at which its growth is measured: 50 steps around each. */
interface Sizes {
  long: number;
  runs: number;
  distinct: number;
  steps: number;
  early: number;
  late: number;
  around: number;
}

const whole: Sizes = { long: 500, runs: 1000, distinct: 100, steps: 20, early: 50, late: 5000, around: 25 };
const short: Sizes = { long: 10, runs: 3, distinct: 2, steps: 3, early: 4, late: 10, around: 1 };

export const inspect: Benchmark = {
  name: 'inspect',
  summary: 'beside Inspect AI, with its mock model: disk, reports, lists, first rows in the browser, memory',
  async measure(context) {
    if (!existsSync('/proc/self/status'))
      throw new UserError('no_proc', 'Memory of processes is read from /proc.', 'Measure it on Linux.');
    const sizes = context.quick ? short : whole;
    const both = { ours: await mlabSide(context), theirs: await inspectSide(context) };
    const made = await makeAll(both, sizes, context);
    return [
      ...sizesOf(`${sizes.long} steps`, made.long, 1.5),
      ...sizesOf(`${sizes.runs} runs of ${sizes.steps} steps`, made.many, 2),
      growthOf(made.endless, sizes),
      ...(await viewers(both, made.many, sizes, context)),
      ...(await readings(both, made.many, sizes, context)),
    ];
  },
};

/** Both at the same time: this duration is not measured. */
async function makeAll({ ours, theirs }: Pair<Side>, sizes: Sizes, { log }: BenchContext) {
  const { long, runs, distinct, steps, early, late, around } = sizes;
  log(`${runs} runs of ${steps} steps, copies of ${distinct}; a run of ${long} and one of ${late}`);
  const make = async (side: Side) => ({
    long: await side.make('long', { runs: 1, steps: long, distinct: 1 }),
    many: await side.make('many', { runs, steps, distinct }),
  });
  const makeOurs = async () => {
    const lookAfter = [early - around, early + around, late - around, late + around];
    const endless = { runs: 1, steps: late + around, distinct: 1, lookAfter };
    return { ...(await make(ours)), endless: await ours.make('endless', endless) };
  };
  const [own, other] = await Promise.all([makeOurs(), make(theirs)]);
  return {
    endless: own.endless,
    long: { ours: own.long, theirs: other.long },
    many: { ours: own.many, theirs: other.many },
  };
}

function sizesOf(what: string, { ours, theirs }: Pair<MadeRuns>, maxTimes: number): Measurement[] {
  const [own, other] = [folderSize(ours.folder), folderSize(theirs.folder)];
  const onDisk = (size: typeof own) =>
    `${(size.diskBytes / 1e6).toFixed(1)} MB on this disk; ${size.folders} folders`;
  return [
    ...sideBySide(
      { what: `bytes of ${what}`, unit: 'bytes' },
      { ours: own.bytes, theirs: other.bytes },
      maxTimes,
      {
        ours: onDisk(own),
        theirs: onDisk(other),
      },
    ),
    ...sideBySide({ what: `files of ${what}`, unit: '' }, { ours: own.files, theirs: other.files }, null),
  ];
}

function growthOf({ sizes }: MadeRuns, { early, late, around }: Sizes): Measurement {
  const [a, b, c, d] = sizes;
  if (a === undefined || b === undefined || c === undefined || d === undefined)
    throw new Error('a step was not looked at');
  const each = (bytes: number) => bytes / (2 * around);
  return {
    ...{ what: `bytes of a step around ${late}, of one around ${early}`, unit: 'times', atMost: 1.1 },
    value: (d - c) / (b - a),
    note: `${each(d - c).toFixed(0)} of ${each(b - a).toFixed(0)} bytes, means of ${2 * around} steps while the run goes on`,
  };
}

/** With nothing cached. */
async function viewers(
  { ours, theirs }: Pair<Side>,
  many: Pair<MadeRuns>,
  { runs }: Sizes,
  { log }: BenchContext,
): Promise<Measurement[]> {
  const program = findChromium();
  if (program !== null) buildPages();
  const browser: Browser | null = program === null ? null : await startChromium(program);
  try {
    log('the viewers');
    const own = await viewRuns(ours, many.ours.folder, browser);
    const other = await viewRuns(theirs, many.theirs.folder, browser);
    const where = browser === null ? 'from the server: there is no Chromium here' : 'in the browser';
    return [
      ...sideBySide(
        { what: 'from the command to the first rows', unit: 's' },
        { ours: own.seconds, theirs: other.seconds },
        1,
        { ours: where, theirs: where },
      ),
      ...sideBySide(
        { what: `memory of the viewer's processes with ${runs} runs open`, unit: 'bytes' },
        { ours: own.restBytes, theirs: other.restBytes },
        null,
        { ours: 'when nothing is worked on any more', theirs: '' },
      ).map((one, index) => (index === 0 ? { ...one, atMost: 150e6 } : one)),
      ...sideBySide(
        { what: 'the same at most at any time', unit: 'bytes' },
        { ours: own.peakBytes, theirs: other.peakBytes },
        null,
      ),
    ];
  } finally {
    await browser?.close();
  }
}

async function readings(
  { ours, theirs }: Pair<Side>,
  many: Pair<MadeRuns>,
  { runs }: Sizes,
  { log, signal }: BenchContext,
): Promise<Measurement[]> {
  // The viewer's caches would make the first report faster.
  for (const kept of ['.evaluations.sqlite', '.viewer.sqlite'])
    for (const end of ['', '-shm', '-wal'])
      rmSync(join(many.ours.folder, '..', `${kept}${end}`), { force: true });
  const found: Measurement[] = [];
  const time = async (what: string, of: (side: Side, folder: string) => Program) => {
    log(what);
    const own = await timed(of(ours, many.ours.folder), signal);
    const other = await timed(of(theirs, many.theirs.folder), signal);
    const cpu = ({ cpuSeconds }: typeof own) => `${cpuSeconds.toFixed(1)} s of processor time`;
    found.push(
      ...sideBySide({ what, unit: 's' }, { ours: own.seconds, theirs: other.seconds }, 1, {
        ours: cpu(own),
        theirs: cpu(other),
      }),
    );
  };
  await time(`the first report of ${runs} runs`, (side, folder) => side.report(folder));
  await time('the same again', (side, folder) => side.report(folder));
  await time('a list', (side, folder) => side.list(folder));
  return found;
}

async function timed(program: Program, signal: AbortSignal) {
  const [start, cpu] = [performance.now(), childrenCpuMs() ?? 0];
  await outputOf(program, signal);
  return {
    seconds: (performance.now() - start) / 1000,
    cpuSeconds: ((childrenCpuMs() ?? 0) - cpu) / 1000,
  };
}
