import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { evaluateRun } from '../../../src/evaluation/index.ts';
import { exportRuns, exportTables } from '../../../src/exchange/index.ts';
import { sha256 } from '../../../src/lib/hash.ts';
import { decodeName } from '../../../src/lib/path-text.ts';
import { ExperimentName, ObjectId, TraceEvent } from '../../../src/schema/index.ts';
import {
  Conversations,
  checkRun,
  createExperiment,
  diffSnapshots,
  encodePath,
  forkRun,
  isSafePath,
  ObjectStore,
  openExperiment,
  RunFolder,
  readLines,
  readSnapshot,
  readTrace,
  recordedStates,
  restoreSnapshot,
  showPath,
} from '../../../src/store/index.ts';
import { seekTable } from '../../../src/store/seek-table.ts';
import {
  exampleGrade,
  examplePlan,
  exampleRecord,
  exampleSpec,
  exampleVerification,
  modelCall,
  runEnded,
  sessionStarted,
  stepFinished,
  stepStarted,
} from '../../fixtures/store/examples.ts';
import { defineTarget } from '../engine/target.ts';
import { filesAsInput, filesIn, hold, writeFilesIn } from './containers.ts';

/** Placeholders for the ids of the snapshot, and of the text, in the store. */
const snapshotMark = ObjectId.parse('5'.repeat(64));
const textMark = ObjectId.parse('7'.repeat(64));

const snapshotText =
  '{"v":1,"entries":[\n{"path":"a","folder":true},\n' +
  `{"path":"a/train.py","object":"${textMark}","size":11,"mode":420,"mtime":0},\n{"path":"b","link":"a/train.py"}\n]}\n`;

function eventLines(): string {
  const events = [
    sessionStarted(snapshotMark),
    modelCall(1),
    { kind: 'note', entries: { Reflection: { text: 'why' }, Plan: { object: textMark, bytes: 12 } } },
    stepStarted(1),
    stepFinished(1, snapshotMark),
    stepStarted(2),
    stepFinished(2, snapshotMark, { undo: [{ path: 'a/train.py', before: textMark }] }),
    { ...runEnded(), snapshot: snapshotMark },
  ];
  let prev = '0'.repeat(64);
  const lines = events.map((event, seq) => {
    const line = JSON.stringify({ v: 2, seq, time: 1_790_000_000_000 + seq, prev, ...event });
    prev = sha256(line);
    return `${line}\n`;
  });
  return lines.join('');
}

const run = {
  'run.json': JSON.stringify(
    exampleRecord({ status: 'finished', steps: 2, end: { reason: 'final_answer', message: '' } }),
  ),
  'trace.jsonl': eventLines(),
  'grades.jsonl': `${JSON.stringify(exampleGrade(snapshotMark))}\n`,
  'verifications.jsonl': `${JSON.stringify(exampleVerification(snapshotMark))}\n`,
  snapshot: snapshotText,
  text: 'accuracy 1\n',
};
const words = [
  ...[
    '"kind":"',
    'session_started',
    'step_started',
    'step_finished',
    'model_call',
    'note',
    'run_ended',
    '"v":1',
    '"v":2',
    '"v":9',
  ],
  ...[
    '"object":"',
    snapshotMark,
    textMark,
    '"call":1,"from":0,"count":1',
    '"text":"',
    '"step":',
    '"entries":',
    '"bytes":',
  ],
  ...[
    '=== run.json\n',
    '=== trace.jsonl\n',
    '=== grades.jsonl\n',
    '=== snapshot\n',
    '=== text\n',
    '"folder":true',
    '"link":"',
  ],
];

/** Writes the parts of an input to their places in a run. The placeholders in them become ids. */
function layOut(input: Buffer, folder: string): RunFolder {
  const objects = new ObjectStore(join(folder, 'objects'));
  const parts = new Map(filesIn(input).map(({ path, content }) => [path, content]));
  const text = objects.putBytes(parts.get('text') ?? Buffer.alloc(0));
  const named = (content: Buffer) => content.toString('latin1').replaceAll(textMark, text);
  const snapshot = objects.putBytes(Buffer.from(named(parts.get('snapshot') ?? Buffer.alloc(0)), 'latin1'));
  const place = join(folder, 'runs', exampleSpec().id);
  writeFilesIn(input, place, (_, content) =>
    Buffer.from(named(content).replaceAll(snapshotMark, snapshot), 'latin1'),
  );
  return new RunFolder(place, objects);
}

/** A failure of one reader must not keep the next from being tried. */
async function each(readers: readonly (() => unknown)[]): Promise<void> {
  let first: unknown = null;
  for (const reader of readers) {
    try {
      await reader();
    } catch (error) {
      if (!(error instanceof Error && error.name === 'UserError')) throw error;
      first ??= error;
    }
  }
  if (first !== null) throw first;
}

export const runTarget = defineTarget({
  name: 'run-folder',
  reads: "a run's folder: run.json, trace, grades, verifications, snapshots and objects",
  seeds: [filesAsInput(run)],
  words,
  batch: 8,
  maxBytes: 16 * 1024,
  milliseconds: (bytes) => 500 + bytes / 20,
  open: (folder) => ({
    async run(input) {
      const store = join(folder, 'experiment');
      rmSync(store, { recursive: true, force: true });
      const given = layOut(input, store);
      const snapshots = () => recordedStates(given).map(({ snapshot }) => snapshot);
      await each([
        () => checkRun(given),
        () => given.readRecord(),
        () => evaluateRun(given, exampleSpec()),
        async () => {
          if (!given.hasTrace()) return;
          for await (const _ of readTrace(given.tracePath));
        },
        async () => {
          const [one, ...others] = [...new Set(snapshots())];
          if (one === undefined) return;
          for (const other of others) await diffSnapshots(given.objects, one, other);
          readSnapshot(given.objects, one);
          await restoreSnapshot(given.objects, one, join(folder, 'restored'));
        },
      ]);
    },
  }),
});

export const exportTarget = defineTarget({
  name: 'run-export',
  reads: "a run's folder, to write it in the formats of others, and to fork it",
  seeds: [filesAsInput(run)],
  words,
  batch: 4,
  maxBytes: 12 * 1024,
  milliseconds: () => 3_000,
  open: (folder) => ({
    async run(input) {
      const store = join(folder, 'experiment');
      for (const path of [store, join(folder, 'out')]) rmSync(path, { recursive: true, force: true });
      const given = layOut(input, store);
      const signal = new AbortController().signal;
      const placeOf = (to: string) => ({ out: join(folder, 'out', to), onProgress() {}, signal });
      const exportAs = (to: 'mlagentbench' | 'jsonl') =>
        exportRuns({ ...placeOf(to), folders: [given], to, variables: {} });
      const experiment = createExperiment(store, examplePlan());
      const tablesAs = (to: 'csv' | 'parquet') =>
        exportTables({ ...placeOf(to), chosen: [{ experiment, folders: [given] }], to });
      const forked = new RunFolder(join(store, 'runs', 'digits-noop-0'), given.objects);
      await each([
        () => exportAs('jsonl'),
        () => tablesAs('csv'),
        () => tablesAs('parquet'),
        () => exportAs('mlagentbench'),
        () => {
          if (!given.hasTrace()) return;
          mkdirSync(forked.folder, { recursive: true });
          return forkRun(
            given,
            { experiment: ExperimentName.parse('first'), run: given.id, step: 1 },
            forked,
          );
        },
      ]);
    },
  }),
});

export const planTarget = defineTarget({
  name: 'plan',
  reads: 'plan.json of an experiment',
  seeds: [JSON.stringify(examplePlan())],
  words: ['"v":', '"runs":', '"id":"', '../', '"spend":', '"prices":', '"limits":', '__proto__'],
  open: (folder) => ({
    run(input) {
      writeFileSync(join(folder, 'plan.json'), input);
      const experiment = openExperiment(folder);
      for (const id of experiment.runIds) {
        hold(experiment.runFolder(id).folder === join(folder, 'runs', id), 'a run lies in its experiment');
        hold(!/[/\\\0]/.test(id) && id !== '..' && id !== '.', 'the id of a run is one name');
      }
    },
  }),
});

export const compressedTraceTarget = defineTarget({
  name: 'compressed-trace',
  reads: 'a compressed trace, its frames and their table',
  seeds: [
    '4\n{"a":1}\n{"b":2}\n',
    '1\n\n',
    Buffer.concat([Buffer.from('raw\n'), seekTable([{ stored: 3, bytes: 9 }])]),
  ],
  words: ['raw\n', '\n'],
  open: (folder) => ({
    async run(input) {
      const path = join(folder, 'trace.jsonl');
      const end = Math.max(0, input.indexOf('\n'));
      const [head, rest] = [input.toString('latin1', 0, end), input.subarray(end + 1)];
      writeFileSync(`${path}.zst`, head === 'raw' ? rest : framesOf(rest, Number(head) || 1));
      let bytes = 0;
      for await (const line of readLines(path)) bytes += line.bytes.length + (line.torn ? 0 : 1);
      hold(head === 'raw' || bytes === rest.length, 'what was compressed comes back');
    },
  }),
});

/** The content in frames of this many bytes, with a correct table. */
function framesOf(content: Buffer, size: number): Buffer {
  const frames: { stored: number; bytes: number }[] = [];
  const pieces: Buffer[] = [];
  const step = Math.max(Math.abs(Math.trunc(size)) || 1, Math.ceil(content.length / 50), 1);
  for (let at = 0; at < content.length; at += step) {
    const piece = content.subarray(at, at + step);
    const stored = zstdCompressSync(piece);
    frames.push({ stored: stored.length, bytes: piece.length });
    pieces.push(stored);
  }
  return Buffer.concat([...pieces, seekTable(frames)]);
}

export const pathTarget = defineTarget({
  name: 'path-text',
  reads: 'names of files, which are bytes',
  seeds: ['a/b.txt', Buffer.from([0x61, 0xff, 0x2f, 0xed, 0xa0, 0x80]), 'é/\u0301', '../a', 'a//b'],
  words: ['/', '..', '.', '\0', '\n', '\u{10ffff}'],
  maxBytes: 4096,
  batch: 128,
  open: () => ({
    run(input) {
      const text = decodeName(input);
      const encoded = encodePath(text);
      hold(
        encoded !== null && Buffer.from(encoded).equals(input),
        'a name that was decoded is encoded to itself',
      );
      hold(
        decodeName(Buffer.from(JSON.stringify(JSON.parse(JSON.stringify(text))))) !== '',
        'JSON keeps a name',
      );
      hold(JSON.parse(JSON.stringify(text)) === text, 'JSON keeps a name as it is');
      hold(!/[\u0000-\u001f\u007f-\u009f]/.test(showPath(text)), 'a shown path holds no controls');
      const other = input.toString('latin1').replaceAll('\x80', '\udc80').replaceAll('\xff', '\ud800');
      const bytes = encodePath(other);
      hold(bytes === null || decodeName(Buffer.from(bytes)) === other, 'no two texts mean one file');
      if (isSafePath(other)) hold(!other.split('/').includes('..'), 'a safe path stays inside');
    },
  }),
});

/** Each call repeats the content of the previous one twice. */
const doubling = Array.from({ length: 40 }, (_, index) => {
  const before = { call: index, from: 0, count: 2 ** (index - 1) };
  return JSON.stringify({ call: index + 1, messages: index === 0 ? [{ text: '1' }] : [before, before] });
}).join('\n');

export const conversationTarget = defineTarget({
  name: 'conversations',
  reads: 'conversations of a trace that refer to earlier calls',
  seeds: [
    [1, 2, 3]
      .map((call) => JSON.stringify({ call, messages: [{ text: '"a"' }, { call: 1, from: 0, count: 1 }] }))
      .join('\n'),
    doubling,
  ],
  words: ['"call":1', '"from":0', '"count":1', '"messages":', '{"text":"x"}'],
  open: () => ({
    run(input) {
      const conversations = new Conversations();
      for (const line of input.toString('utf8').split('\n')) {
        let given: { call?: unknown; messages?: unknown };
        try {
          given = JSON.parse(line);
        } catch {
          continue;
        }
        const event = TraceEvent.safeParse({
          ...modelCall(1),
          v: 2,
          seq: 0,
          time: 0,
          prev: '0'.repeat(64),
          ...given,
        });
        if (!event.success || event.data.kind !== 'model_call') continue;
        let count = 0;
        for (const _ of conversations.of(event.data)) count += 1;
        hold(count <= 1_000_000, 'a conversation is no longer than can be read');
      }
    },
  }),
});
