import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeExampleRun } from '../../test/fixtures/store/example-run.ts';
import { temporaryFolder } from '../../test/fixtures/store/folders.ts';
import { checkRun } from './check-run.ts';
import { compressTrace } from './compress-trace.ts';
import { ObjectStore } from './object-store.ts';
import { compressedPath, openTraceBytes } from './trace-bytes.ts';
import { readTraceSync } from './trace-reader.ts';
import { TraceWriter } from './trace-writer.ts';

/** A trace of several frames, with lines of all lengths. */
async function longTrace(folder: string): Promise<string> {
  const path = join(folder, 'trace.jsonl');
  await using trace = TraceWriter.open(path, new ObjectStore(join(folder, 'objects')));
  for (let step = 1; step <= 300; step++)
    trace.append({
      kind: 'output',
      step,
      text: `${step} is printed ${Math.sin(step)}\n`.repeat((step * 37) % 150),
    });
  return path;
}

test('a compressed trace is read like the plain one, from any place to any other', async () => {
  using folder = temporaryFolder();
  const path = await longTrace(folder.path);
  const plain = readFileSync(path);
  const { events } = readTraceSync(path);
  await compressTrace(path);
  expect(existsSync(path)).toBe(false);
  expect(readTraceSync(path)).toEqual({ events, tornBytes: 0 });
  using bytes = openTraceBytes(path);
  expect(bytes?.size).toBe(plain.length);
  const place = fc.nat(plain.length + 10);
  await fc.assert(
    fc.asyncProperty(place, place, async (one, other) => {
      const [from, to] = [Math.min(one, other), Math.max(one, other)];
      expect((await bytes?.read(from, to))?.equals(plain.subarray(from, to))).toBe(true);
      expect(bytes?.readSync(from, to).equals(plain.subarray(from, to))).toBe(true);
    }),
    { numRuns: 50 },
  );
});

test('zstdcat shows a compressed trace', async ({ skip }) => {
  using folder = temporaryFolder();
  const path = await longTrace(folder.path);
  const plain = readFileSync(path, 'utf8');
  await compressTrace(path);
  try {
    execFileSync('zstdcat', ['--version']);
  } catch {
    skip('zstdcat is not installed');
  }
  const shown = execFileSync('zstdcat', [compressedPath(path)], { maxBuffer: 2 ** 26 });
  expect(shown.toString('utf8')).toBe(plain);
});

test('a writer of a compressed trace continues after its last event', async () => {
  using folder = temporaryFolder();
  const path = await longTrace(folder.path);
  const { events } = readTraceSync(path);
  await compressTrace(path);
  {
    await using trace = TraceWriter.open(path, new ObjectStore(join(folder.path, 'objects')));
    expect(trace.head.events).toBe(300);
    trace.append({ kind: 'output', step: 301, text: 'more' });
  }
  expect(existsSync(compressedPath(path))).toBe(false);
  const read = readTraceSync(path).events;
  expect(read.slice(0, -1)).toEqual(events);
  expect(read.at(-1)).toMatchObject({ seq: 300, text: 'more' });
});

test('the plain trace counts as long as it exists, whatever a killed process left of the compressed one', async () => {
  using folder = temporaryFolder();
  const path = await longTrace(folder.path);
  const kept = join(folder.path, 'kept');
  copyFileSync(path, kept);
  const { events } = readTraceSync(path);
  await compressTrace(path);
  const packed = readFileSync(compressedPath(path));
  for (const length of [0, 10, packed.length - 1, packed.length]) {
    copyFileSync(kept, path);
    for (const name of [compressedPath(path), `${compressedPath(path)}.tmp`])
      writeFileSync(name, packed.subarray(0, length));
    expect(readTraceSync(path).events).toEqual(events);
    await compressTrace(path);
    expect(readTraceSync(path).events).toEqual(events);
    expect([existsSync(path), existsSync(`${compressedPath(path)}.tmp`)]).toEqual([false, false]);
  }
});

test('a damaged compressed trace is reported with its file, and never read as a shorter one', async () => {
  using folder = temporaryFolder();
  const { run } = await makeExampleRun(folder.path);
  await run.compressTrace();
  expect(await checkRun(run)).toEqual([]);
  const packed = compressedPath(run.tracePath);
  const whole = readFileSync(packed);
  for (const place of [8, Math.floor(whole.length / 3), whole.length - 12]) {
    const damaged = Buffer.from(whole);
    damaged[place] = (damaged[place] ?? 0) ^ 0x10;
    writeFileSync(packed, damaged);
    expect(() => readTraceSync(run.tracePath)).toThrow(`${packed} is damaged`);
    expect(await checkRun(run)).toMatchObject([{ code: 'broken_file', where: run.tracePath }]);
  }
  writeFileSync(packed, whole);
  truncateSync(packed, whole.length - 5);
  expect(() => readTraceSync(run.tracePath)).toThrow('does not end with the table of its frames');
});
