import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { modelCall, runEnded, sessionStarted } from '../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../test/fixtures/store/folders.ts';
import { RunParent } from '../schema/index.ts';
import { checkRun } from './check-run.ts';
import { Conversations } from './conversations.ts';
import { openExperiment } from './experiment.ts';
import { forkRun } from './fork.ts';
import { RunFolder } from './run-folder.ts';
import { stepsOf } from './steps.ts';
import { readTraceSync, resolveText } from './trace-reader.ts';

/** As mlab wrote it when traces were never compressed and each call listed all of its messages; edits would break it. */
const recorded = join(import.meta.dirname, '../../test/fixtures/store/version-1');

function openCopy(folder: string): RunFolder {
  cpSync(recorded, join(folder, 'version-1'), { recursive: true });
  return openExperiment(join(folder, 'version-1')).runFolder('digits-tools-scripted-old-jsonl-0');
}

test('a run of the first version has no problems, and its conversations are read as they were sent', async () => {
  using folder = temporaryFolder();
  const run = openCopy(folder.path);
  expect(await checkRun(run)).toEqual([]);
  expect(run.readRecord()).toMatchObject({ v: 1, status: 'finished', steps: 5 });
  expect(run.readGrades().grades).toHaveLength(1);
  const { events } = readTraceSync(run.tracePath);
  expect(stepsOf(events)).toHaveLength(5);
  const conversations = new Conversations();
  const lengths: number[] = [];
  for (const event of events) {
    if (event.kind !== 'model_call') continue;
    const texts = Array.from(conversations.of(event), (ref) => resolveText(run.objects, ref));
    expect(texts.every((text) => 'role' in JSON.parse(text))).toBe(true);
    lengths.push(texts.length);
  }
  expect(lengths).toEqual([2, 5, 7, 2, 9, 11]);
});

test('a run of the first version can be compressed, continued and forked', async () => {
  using folder = temporaryFolder();
  const run = openCopy(folder.path);
  const plain = readFileSync(run.tracePath, 'utf8');
  const { events } = readTraceSync(run.tracePath);
  await run.compressTrace();
  expect(await checkRun(run)).toEqual([]);
  const fork = new RunFolder(join(folder.path, 'version-1/runs/fork-0'), run.objects);
  using _lock = fork.lock();
  await forkRun(run, RunParent.parse({ experiment: 'version-1', run: run.id, step: 2 }), fork);
  const kinds = readTraceSync(fork.tracePath).events.map(({ kind }) => kind);
  expect(kinds).toEqual(events.slice(0, 7).map(({ kind }) => kind));
  const { snapshot = undefined } = stepsOf(events)[0]?.finished ?? {};
  if (snapshot === undefined) throw new Error('the first step has no snapshot');
  {
    await using trace = run.openTrace();
    expect(readFileSync(run.tracePath, 'utf8')).toBe(plain);
    trace.append(sessionStarted(snapshot, 2));
    trace.append(modelCall(7, { messages: [{ call: 6, from: 0, count: 9 }] }));
    trace.append(runEnded());
  }
  expect(await checkRun(run)).toEqual([]);
});
