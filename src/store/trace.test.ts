import { spawnSync } from 'node:child_process';
import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runEnded, sessionStarted, stepFinished, stepStarted } from '../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../test/fixtures/store/folders.ts';
import { sha256 } from '../lib/hash.ts';
import { type EventPayload, ObjectId, type TraceEvent } from '../schema/index.ts';
import { ObjectStore } from './object-store.ts';
import { lastSnapshot, sessionsOf, snapshotsByStep, stepsOf } from './steps.ts';
import { readTrace, readTraceSync, resolveText } from './trace-reader.ts';
import { TraceWriter } from './trace-writer.ts';

const snapshot = ObjectId.parse(sha256('a snapshot'));
const payload: fc.Arbitrary<EventPayload> = fc.oneof(
  fc.constant(sessionStarted(snapshot)),
  fc.nat(1000).map((step) => stepStarted(step + 1)),
  fc.nat(1000).map((step) => stepFinished(step + 1, snapshot)),
  fc.record({
    kind: fc.constant('output' as const),
    step: fc.constant(1),
    text: fc.string({ unit: 'binary', maxLength: 3000 }),
  }),
  fc.record({
    kind: fc.constant('note' as const),
    entries: fc.dictionary(fc.string(), fc.record({ text: fc.string() })),
  }),
);

test('events come back as they were appended, chained to each other', async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'trace.jsonl');
  const objects = new ObjectStore(join(folder.path, 'objects'));
  const written: TraceEvent[] = [];
  for (let round = 0; round < 12; round++) {
    await using trace = TraceWriter.open(path, objects);
    for (const one of fc.sample(payload, { numRuns: 10, seed: round })) written.push(trace.append(one));
  }
  const read = await collect(readTrace(path));
  expect(read).toEqual(JSON.parse(JSON.stringify(written)));
  expect(readTraceSync(path)).toEqual({ events: read, tornBytes: 0 });
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  for (const [index, event] of read.entries()) {
    expect(event.seq).toBe(index);
    expect(event.prev).toBe(index === 0 ? '0'.repeat(64) : sha256(lines[index - 1] ?? ''));
  }
});

test('an event that no reader would take is refused, and the trace goes on', async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'trace.jsonl');
  const objects = new ObjectStore(join(folder.path, 'objects'));
  {
    await using trace = TraceWriter.open(path, objects);
    const note = (text: string): EventPayload => ({ kind: 'note', entries: { a: { text } } });
    expect(() => trace.append(note('x'.repeat(2 ** 26)))).toThrow('and the trace takes 67108864');
    trace.append(note('short'));
  }
  expect(readTraceSync(path).events).toMatchObject([{ seq: 0, entries: { a: { text: 'short' } } }]);
});

test('a flush that is asked for while others are waits until its events are on disk, too', async () => {
  using folder = temporaryFolder();
  const objects = new ObjectStore(join(folder.path, 'objects'));
  await using trace = TraceWriter.open(join(folder.path, 'trace.jsonl'), objects);
  const order: string[] = [];
  trace.append(stepStarted(1));
  const first = trace.flush();
  trace.append(stepFinished(1, snapshot));
  await Promise.all([
    first,
    trace.flush().then(() => order.push('second')),
    trace.flush().then(() => order.push('third')),
  ]);
  expect(order).toEqual(['second', 'third']);
});

test('wherever a trace is cut, every complete line survives and the writer continues', async () => {
  using folder = temporaryFolder();
  const objects = new ObjectStore(join(folder.path, 'objects'));
  const path = join(folder.path, 'trace.jsonl');
  await fc.assert(
    fc.asyncProperty(fc.array(payload, { minLength: 1, maxLength: 8 }), fc.nat(), async (payloads, cut) => {
      writeFileSync(path, '');
      {
        await using trace = TraceWriter.open(path, objects);
        for (const one of payloads) trace.append(one);
      }
      const whole = readFileSync(path);
      const kept = cut % (whole.length + 1);
      truncateSync(path, kept);
      const complete = whole.subarray(0, whole.subarray(0, kept).lastIndexOf(0x0a) + 1);
      expect(readTraceSync(path).tornBytes).toBe(kept - complete.length);
      {
        await using trace = TraceWriter.open(path, objects);
        expect(trace.repairedBytes).toBe(kept - complete.length);
        expect(readFileSync(path).equals(complete)).toBe(true);
        trace.append(runEnded());
      }
      const lines = complete.toString('utf8').split('\n').slice(0, -1);
      const last = readTraceSync(path).events.at(-1);
      expect(last).toMatchObject({ kind: 'run_ended', seq: lines.length });
      expect(last?.prev).toBe(lines.length === 0 ? '0'.repeat(64) : sha256(lines.at(-1) ?? ''));
    }),
    { numRuns: 60 },
  );
});

test('a torn last line is reported while reading, and left in the file', async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'trace.jsonl');
  {
    await using trace = TraceWriter.open(path, new ObjectStore(folder.path));
    trace.append(sessionStarted(snapshot));
  }
  appendFileSync(path, '{"v":1,"se');
  let torn = 0;
  const events = await collect(readTrace(path, { onTorn: (bytes) => (torn = bytes) }));
  expect([events.length, torn]).toEqual([1, 10]);
  expect(readFileSync(path, 'utf8')).toMatch(/\{"v":1,"se$/);
});

test('very long lines are read from the end', async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'trace.jsonl');
  const objects = new ObjectStore(folder.path);
  for (let round = 0; round < 4; round++) {
    await using trace = TraceWriter.open(path, objects);
    expect(trace.head.events).toBe(round);
    trace.append({ kind: 'output', step: 1, text: 'x'.repeat(200_000 * round) });
  }
  expect(readTraceSync(path).events).toHaveLength(4);
});

test('a last event that does not continue the one before is refused', async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'trace.jsonl');
  const objects = new ObjectStore(folder.path);
  {
    await using trace = TraceWriter.open(path, objects);
    trace.append(sessionStarted(snapshot));
    trace.append(stepStarted(1));
  }
  writeFileSync(path, readFileSync(path, 'utf8').replace('"session":1', '"session":2'));
  expect(() => TraceWriter.open(path, objects)).toThrow('does not continue');
  writeFileSync(path, 'no event\n');
  expect(() => TraceWriter.open(path, objects)).toThrow('is not JSON');
});

test('a newer version and a broken file give different errors, with the line', async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'trace.jsonl');
  writeFileSync(path, '{"v":4,"seq":0}\n');
  await expect(collect(readTrace(path))).rejects.toThrow(/line 1,.*version 4/);
  writeFileSync(path, '{"v":1,"seq":0}\n');
  expect(() => readTraceSync(path)).toThrow(/line 1,.*not as expected/);
});

test('an event that JSON cannot represent is refused, and nothing is written', async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'trace.jsonl');
  await using trace = TraceWriter.open(path, new ObjectStore(folder.path));
  expect(() => trace.append(stepFinished(1, snapshot, { duration_ms: Number.NaN }))).toThrow();
  expect(readFileSync(path, 'utf8')).toBe('');
});

test('long texts become objects, short ones stay in the event', async () => {
  using folder = temporaryFolder();
  const objects = new ObjectStore(join(folder.path, 'objects'));
  await using trace = TraceWriter.open(join(folder.path, 'trace.jsonl'), objects);
  const texts = ['', 'short', 'é'.repeat(512), `${'é'.repeat(512)}!`, 'long '.repeat(1000), 'broken \ud800'];
  for (const text of texts) {
    const ref = trace.textRef(text);
    expect('text' in ref).toBe(Buffer.byteLength(text) <= 1024);
    expect(resolveText(objects, ref)).toBe(text.toWellFormed());
  }
});

test('steps are read as they were finished, also when one was interrupted and repeated', async () => {
  using folder = temporaryFolder();
  await using trace = TraceWriter.open(join(folder.path, 'trace.jsonl'), new ObjectStore(folder.path));
  const [zero, one, two] = ['0', '1', '2'].map((text) => ObjectId.parse(sha256(text)));
  if (!zero || !one || !two) throw new Error('three snapshots');
  const events = [
    sessionStarted(zero),
    stepStarted(1),
    stepFinished(1, one),
    stepStarted(2),
    sessionStarted(one, 2),
    stepStarted(2),
    stepFinished(2, two),
    stepStarted(3),
  ].map((event) => trace.append(event));
  expect(stepsOf(events).map(({ step, started }) => [step, started.seq])).toEqual([
    [1, 1],
    [2, 5],
  ]);
  expect(lastSnapshot(events)).toEqual({ step: 2, snapshot: two });
  expect(lastSnapshot(events.slice(0, 1))).toEqual({ step: 0, snapshot: zero });
  expect([...snapshotsByStep(events)]).toEqual([
    [0, zero],
    [1, one],
    [2, two],
  ]);
  expect(sessionsOf(events)).toEqual({ sessions: 2, secondsUsed: 10 });
});

test('a full disk loses no event and damages no line, and the writer continues once there is space', (context) => {
  // A separate tiny file system, in a namespace that ends with the process.
  const inNamespace = (script: string, ...args: string[]) =>
    spawnSync('unshare', ['-rm', 'sh', '-c', script, 'sh', ...args], { encoding: 'utf8' });
  using folder = temporaryFolder();
  const mount = 'mount -t tmpfs -o size=64k tmpfs "$1"';
  if (inNamespace(mount, folder.path).status !== 0)
    context.skip('this system lets nobody mount in a namespace');
  const fixture = join(import.meta.dirname, '../../test/fixtures/store/full-disk.ts');
  const { stdout } = inNamespace(`${mount} && exec "$2" "$3" "$1"`, folder.path, process.execPath, fixture);
  const { error, appended, tornBytes, events, last } = JSON.parse(stdout);
  expect(error).toContain('ENOSPC');
  expect(appended).toBeGreaterThan(0);
  expect({ tornBytes, events, last }).toEqual({ tornBytes: 0, events: appended + 1, last: appended });
});

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}
