import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { findChromium } from './fixtures/chromium.ts';
import { noSandbox } from './fixtures/needs-sandbox.ts';

const root = join(import.meta.dirname, '..');
const recordings = join(root, '../shared/recorded-runs');

const Report = z.object({
  machine: z.object({ processor: z.string().min(1), cores: z.int().min(1), node: z.string().min(1) }),
  quick: z.literal(true),
  benchmarks: z.array(
    z.object({
      name: z.string(),
      missing: z.string().nullable(),
      measurements: z.array(
        z.object({
          what: z.string().min(1),
          // Finite: JSON turns NaN and infinities into null.
          value: z.number(),
          unit: z.string(),
          atMost: z.number().nullable(),
          note: z.string(),
        }),
      ),
    }),
  ),
});

function bench(...argv: string[]) {
  return spawnSync(process.execPath, [join(root, 'bench/main.ts'), ...argv], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 2 ** 20,
  });
}

let ran: ReturnType<typeof bench>;

beforeAll(() => {
  if (noSandbox === undefined) ran = bench('--quick', '--json');
});

test('every benchmark gives numbers, also in its short version', ({ skip }) => {
  skip(noSandbox !== undefined, `no sandbox here: ${noSandbox}`);
  // 1: a target was missed, which means nothing in the short version. 3: there are no recorded runs here.
  expect([0, 1, 3], ran.stderr).toContain(ran.status);
  const { benchmarks } = Report.parse(JSON.parse(ran.stdout));
  expect(benchmarks.map(({ name }) => name)).toEqual([
    'step',
    'calls',
    'gateway',
    'turn',
    'snapshot',
    'fork',
    'malformed',
    'noop',
    'help',
    'python',
    'many',
    'kill',
    'fleet',
    'fleet-list',
    'reports',
    'inspect',
    'viewer',
    'pages',
    'regrade',
    'search',
    'tree',
    'sandbox',
    'stop',
    'slurm',
  ]);
  for (const benchmark of benchmarks) {
    // Recorded runs of the original are not part of the project, and Chromium is not available everywhere.
    if (benchmark.name === 'regrade' && !existsSync(recordings)) continue;
    if (benchmark.name === 'pages' && findChromium() === null) continue;
    // Their packages come from PyPI, which is not reachable everywhere; not every machine has these servers.
    if (['inspect', 'python', 'slurm', 'fleet'].includes(benchmark.name) && benchmark.missing !== null)
      continue;
    expect(benchmark.missing).toBeNull();
    expect(benchmark.measurements.some(({ atMost }) => atMost !== null)).toBe(true);
  }
});

test('the short versions find nothing that must never happen to a run', ({ skip }) => {
  skip(noSandbox !== undefined, `no sandbox here: ${noSandbox}`);
  const counts = Report.parse(JSON.parse(ran.stdout))
    .benchmarks.filter(({ name }) => name === 'malformed' || name === 'kill')
    .flatMap(({ measurements }) => measurements)
    .filter(({ atMost }) => atMost === 0);
  expect(counts.length).toBeGreaterThan(5);
  expect(
    counts.filter(({ value }) => value > 0),
    ran.stderr,
  ).toEqual([]);
});

test('an unknown benchmark is refused with the list of benchmarks', () => {
  const { status, stderr } = bench('stepp');
  expect(status).toBe(2);
  expect(stderr).toContain('There is no benchmark "stepp".');
  expect(stderr).toContain('snapshot');
});
