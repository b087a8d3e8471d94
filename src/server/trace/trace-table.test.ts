import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makeBranchedRun } from '../../../test/fixtures/store/branched-run.ts';
import { modelCall, runEnded, sessionStarted, stepFinished } from '../../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { type EventPayload, ObjectId, type TraceEvent } from '../../schema/index.ts';
import { efficiencyOf } from '../../statistics/index.ts';
import { ObjectStore, readTraceSync, sessionsOf, spentOf, stepsOf, TraceWriter } from '../../store/index.ts';
import { spentUntilNow } from '../catalogue/run-lines.ts';
import { extendTable } from './extend-table.ts';
import { readEvents, stepEvents } from './read-events.ts';
import { TraceIndex } from './trace-index.ts';
import { cell, emptyTable, hasTail, rangeOf, shownSteps, type TraceTable } from './trace-table.ts';

const snapshot = ObjectId.parse('0'.repeat(64));

/** Texts that imitate the lines that contain them. */
const hostile = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.constantFrom(
    '","usage":{"input":9,"cached_input":0,"cache_write":0,"output":9,"reasoning":0,"source":"provider"},"cost":9,',
    '"kind":"output"',
    ',"answer":null,',
    '"},"duration_ms":99,"seconds_used":99,',
    '],"changed_count":99,',
    '\\","action":"',
    '}\n{"v":1,"seq":0',
    '\u2028',
  ),
);

/** Steps with the events before and in them; some are interrupted and repeated. */
const transcripts = fc.array(
  fc.record({
    notes: fc.array(fc.tuple(hostile, hostile), { maxLength: 3 }),
    calls: fc.array(
      fc.record({
        ...{ text: hostile, isAnswered: fc.boolean(), isPriced: fc.boolean(), isCounted: fc.boolean() },
        seconds: fc.option(fc.nat(1000), { nil: undefined }),
      }),
      {
        maxLength: 2,
      },
    ),
    action: hostile,
    outputs: fc.array(hostile, { maxLength: 3 }),
    isCutOff: fc.boolean(),
    observation: hostile,
  }),
  { maxLength: 6 },
);

type Transcript = typeof transcripts extends fc.Arbitrary<infer One> ? One : never;

function eventsOf(transcript: Transcript): EventPayload[] {
  let calls = 0;
  let sessions = 1;
  return [
    sessionStarted(snapshot),
    ...transcript.flatMap(
      ({ notes, calls: asked, action, outputs, isCutOff, observation }, index): EventPayload[] => {
        const step = index + 1;
        const begun: EventPayload[] = [
          { kind: 'step_started', step, action, args: { text: JSON.stringify({ observation }) } },
          ...outputs.map((text): EventPayload => ({ kind: 'output', step, text })),
        ];
        const answers = asked.map(({ text, isAnswered, isPriced, isCounted, seconds }) =>
          modelCall(++calls, {
            messages: [{ text: JSON.stringify({ role: 'user', text }) }],
            ...(isAnswered ? {} : { answer: null, failure: { failure: 'timed_out', message: text } }),
            ...(isPriced ? {} : { cost: null }),
            ...(seconds === undefined ? {} : { seconds_used: seconds }),
            ...(isCounted ? {} : { usage: { ...modelCall(1).usage, source: 'estimate' } }),
            attempts: [{ failure: 'overloaded', message: text, duration_ms: 1, waited_ms: 1 }],
          }),
        );
        return [
          ...notes.map(([name, text]): EventPayload => ({ kind: 'note', entries: { [name]: { text } } })),
          ...answers,
          ...(isCutOff ? [...begun, sessionStarted(snapshot, ++sessions)] : []),
          ...begun,
          stepFinished(step, snapshot, {
            ...{
              observation: { text: observation },
              duration_ms: step / 3e7,
              changed: [action],
              changed_count: step,
            },
            inner: [{ action, args: { text: '{}' }, observation: { text: observation }, time: 0 }],
          }),
        ];
      },
    ),
  ];
}

function writeTranscript(transcript: Transcript, end: EventPayload[] = []): string {
  const folder = temporaryFolder();
  const path = join(folder, 'trace.jsonl');
  const trace = TraceWriter.open(path, new ObjectStore(join(folder, 'objects')), {
    now: () => 1_790_000_000_000,
  });
  for (const event of [...eventsOf(transcript), ...end]) trace.append(event);
  void trace.close();
  return path;
}

/** The content of the table, row by row. */
function summary(table: TraceTable) {
  const rows = Array.from({ length: table.steps }, (_, index) => ({
    action: table.actions[cell(table, 'action', index + 1)],
    duration: cell(table, 'duration_ms', index + 1),
    changed: cell(table, 'changed', index + 1),
    range: rangeOf(table, index + 1),
  }));
  return { ...table, columns: rows };
}

describe('the table of a trace', () => {
  test('has the same content as a complete reading of every trace', async () => {
    await fc.assert(
      fc.asyncProperty(transcripts, async (transcript) => {
        const path = writeTranscript(transcript);
        const { table } = await extendTable(path, null);
        const { events } = readTraceSync(path);
        const steps = stepsOf(events);
        expect(table.unreadable).toBeNull();
        expect(table.steps).toBe(steps.length);
        for (const { step, started, finished } of steps) {
          expect(table.actions[cell(table, 'action', step)]).toBe(started.action.slice(0, 200));
          expect(cell(table, 'duration_ms', step)).toBe(finished.duration_ms);
          expect(cell(table, 'changed', step)).toBe(finished.changed_count);
          expect(cell(table, 'seconds_used', step)).toBe(finished.budget.seconds_used);
          const inRange: TraceEvent[] = [];
          for await (const event of readEvents(path, rangeOf(table, step), { withOutput: true }))
            inRange.push(event);
          expect(inRange.at(-1)).toEqual(finished);
          expect(inRange).toContainEqual(started);
        }
        const { money, ...spent } = spentOf(events);
        const used = spentUntilNow({ table, isRunning: false });
        expect(used).toMatchObject(spent);
        expect(used.money).toBeCloseTo(money, 10);
        expect(used.seconds).toBeCloseTo(sessionsOf(events).secondsUsed, 10);
        expect(efficiencyOf(events, false).seconds.wall).toBe(sessionsOf(events).secondsUsed);
      }),
      { numRuns: 60 },
    );
  });

  test('is the same however the trace grew: by lines, by parts of lines, or all at once', async () => {
    await fc.assert(
      fc.asyncProperty(transcripts, fc.array(fc.nat(), { maxLength: 5 }), async (transcript, cuts) => {
        const whole = writeTranscript(transcript, [runEnded()]);
        const bytes = readFileSync(whole);
        const growing = join(temporaryFolder(), 'trace.jsonl');
        let table: TraceTable | null = null;
        const ends = [...new Set(cuts.map((cut) => cut % bytes.length)), bytes.length].toSorted(
          (a, b) => a - b,
        );
        for (const [index, end] of ends.entries()) {
          appendFileSync(growing, bytes.subarray(ends[index - 1] ?? 0, end));
          const extended = await extendTable(growing, table);
          table = extended.table;
          expect(extended.tornBytes).toBe(end - (bytes.subarray(0, end).lastIndexOf('\n') + 1));
        }
        expect(summary(table ?? emptyTable())).toEqual(summary((await extendTable(whole, null)).table));
      }),
      { numRuns: 40 },
    );
  });

  test('is made again for a trace that was replaced, longer or shorter', async () => {
    const one = { notes: [], calls: [], action: 'a', outputs: [], isCutOff: false, observation: '' };
    const path = writeTranscript([one, one]);
    const { table } = await extendTable(path, null);
    writeFileSync(path, readFileSync(writeTranscript([{ ...one, action: 'longer name' }, one, one])));
    expect((await extendTable(path, table)).table).toMatchObject({ steps: 3, actions: ['longer name', 'a'] });
    writeFileSync(path, readFileSync(writeTranscript([one])));
    expect((await extendTable(path, table)).table.steps).toBe(1);
  });

  test('ends before a line that is not an event, and says which', async () => {
    const one = { notes: [], calls: [], action: 'a', outputs: [], isCutOff: false, observation: '' };
    const path = writeTranscript([one]);
    appendFileSync(path, '{"v":2,"kind":"dream"}\n');
    const { table } = await extendTable(path, null);
    expect([table.steps, table.unreadable]).toEqual([
      1,
      "Line 4 of its trace can't be read: it is not an event that this version of mlab knows.",
    ]);
  });

  test('reads lines with their parts in another order', async () => {
    const path = writeTranscript([
      {
        notes: [],
        calls: [{ text: '', isAnswered: true, isPriced: true, isCounted: true, seconds: undefined }],
        action: 'a',
        outputs: ['x'],
        isCutOff: false,
        observation: '',
      },
    ]);
    const turned = readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(line)).toReversed())));
    const plain = await extendTable(path, null);
    writeFileSync(path, `${turned.join('\n')}\n`);
    const other = await extendTable(path, null);
    expect({ ...other.table, lastLine: null }).toEqual({ ...plain.table, lastLine: null });
  });

  test('has the current step, and the events after the last one', async () => {
    const begun: EventPayload = {
      kind: 'step_started',
      step: 1,
      action: 'Execute Script',
      args: { text: '{}' },
    };
    const open = (
      await extendTable(writeTranscript([], [begun, { kind: 'output', step: 1, text: 'x' }]), null)
    ).table;
    expect([shownSteps(open), open.steps, hasTail(open)]).toEqual([1, 0, false]);
    const over = (await extendTable(writeTranscript([], [modelCall(1), runEnded()]), null)).table;
    expect([shownSteps(over), hasTail(over), over.ending !== null]).toEqual([0, true, true]);
  });

  test('of a long trace is stored for later processes', async () => {
    const root = temporaryFolder();
    const path = join(root, 'trace.jsonl');
    const trace = TraceWriter.open(path, new ObjectStore(join(root, 'objects')));
    trace.append(sessionStarted(snapshot));
    const text = 'o'.repeat(1_000_000);
    trace.append({ kind: 'step_started', step: 1, action: 'Execute Script', args: { text: '{}' } });
    for (let count = 0; count < 10; count++) trace.append({ kind: 'output', step: 1, text });
    trace.append(stepFinished(1, snapshot));
    await trace.close();
    using first = new TraceIndex();
    const made = await first.table(root, path);
    using second = new TraceIndex();
    const marked = readFileSync(path);
    // If the index reads the trace again, it finds this.
    marked.fill('x', 100, 200);
    writeFileSync(path, marked);
    expect(summary((await second.table(root, path)).table)).toEqual(summary(made.table));
  });

  test('shows the history of the selected branch, also if another one is selected later', async () => {
    const { run } = await makeBranchedRun(temporaryFolder());
    const lines = readFileSync(run.tracePath, 'utf8').split('\n');
    const path = join(temporaryFolder(), 'trace.jsonl');
    const selecting = lines.findIndex((line) => line.includes('"branch_selected"'));
    writeFileSync(path, `${lines.slice(0, selecting).join('\n')}\n`);
    const before = (await extendTable(path, null)).table;
    const shown = async (table: TraceTable) => {
      const branches = [];
      for (let step = 1; step <= table.steps; step++)
        for await (const event of stepEvents(path, table, step))
          if (event.kind === 'step_finished') branches.push(`${event.branch ?? 'main'} ${event.step}`);
      return branches;
    };
    expect(await shown(before)).toEqual(['main 1', 'main 2', 'main 3']);
    writeFileSync(path, lines.join('\n'));
    const after = (await extendTable(path, before)).table;
    expect(await shown(after)).toEqual(['main 1', 'b1 2', 'b1 3']);
    expect(after.unreadable).toBeNull();
    expect(after.branches).toMatchObject([
      { id: 'main', steps: 3 },
      { id: 'b1', steps: 2 },
      { id: 'b2', steps: 1 },
    ]);
  });
});
