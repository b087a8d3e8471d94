import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeExampleRun } from '../../../test/fixtures/store/example-run.ts';
import {
  exampleGrade,
  exampleRecord,
  stepFinished,
  stepStarted,
} from '../../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { get, LiveEar, startViewer } from '../../../test/fixtures/viewer-place.ts';
import {
  ExperimentList,
  ExperimentPage,
  ReportPage,
  RunPage,
  StepPage,
  Timeline,
} from '../../schema/index.ts';

const run = '/api/experiments/first/runs/digits-baseline-0';
const watching = '?experiment=first&run=digits-baseline-0';

/** A run that this process works on. */
async function runningExample() {
  const scratch = temporaryFolder();
  const root = join(scratch, 'experiments');
  const { run: folder, snapshot } = await makeExampleRun(root);
  const lock = folder.lock();
  folder.writeRecordSync(exampleRecord({ status: 'running' }));
  const trace = folder.openTrace();
  trace.append({
    kind: 'session_started',
    session: 2,
    versions: {},
    snapshot,
    repaired_bytes: 0,
    seconds_used: 1,
  });
  const viewer = await startViewer([root], scratch);
  return { viewer, folder, trace, snapshot, lock };
}

describe('live events', () => {
  test('contain the steps and the output of a running run at once', async () => {
    const { viewer, trace, snapshot } = await runningExample();
    const ear = new LiveEar(viewer, watching);
    // The watch begins with the current state.
    expect((await ear.event('steps')).timeline).toMatchObject({ from: 2, total: 2 });
    const begun = performance.now();
    trace.append(stepStarted(3));
    const { timeline, heard } = await ear.event('steps', ({ timeline }) => timeline.total === 3);
    expect(heard.at - begun).toBeLessThan(1500);
    expect(timeline.statuses[timeline.status[timeline.total - timeline.from] ?? 0]).toBe('running');
    trace.append({ kind: 'output', step: 3, text: 'epoch 1\n' });
    expect(await ear.event('output')).toMatchObject({ step: 3, from: 0, text: 'epoch 1\n' });
    expect((await get(viewer, `${run}/steps/3`, StepPage)).output).toEqual({ from: 0, text: 'epoch 1\n' });
    trace.append({ kind: 'output', step: 3, text: 'epoch 2\n' });
    expect(await ear.event('output', ({ from }) => from === 8)).toMatchObject({ text: 'epoch 2\n' });
    trace.append(stepFinished(3, snapshot));
    const last = await ear.event(
      'steps',
      ({ timeline }) => timeline.total === 3 && timeline.statuses[timeline.status.at(-1) ?? 9] === 'ok',
    );
    expect(last).toMatchObject({ timeline: { from: 3, total: 3 }, budget: { steps_used: 3 } });
    expect(await get(viewer, `${run}/timeline`, Timeline)).toMatchObject({ total: 3 });
  });

  test('report experiments that begin, and runs that end', async () => {
    const { viewer, folder, trace, lock } = await runningExample();
    const { experiments } = await get(viewer, '/api/experiments', ExperimentList);
    expect(experiments[0]).toMatchObject({ state: 'running', running: [{ run: 'digits-baseline-0' }] });
    const ear = new LiveEar(viewer);
    await ear.event('hello');
    await trace.close();
    lock.release();
    folder.writeRecordSync(
      exampleRecord({ status: 'finished', steps: 2, end: { reason: 'step_limit', message: '' } }),
    );
    expect((await ear.event('run')).line).toMatchObject({ status: 'finished', end: 'step_limit', steps: 2 });
    expect((await ear.event('experiment')).line.state).toBe('unfinished');
  });

  test("update a run's clock while one of its steps is under way", async () => {
    const { viewer, trace } = await runningExample();
    const ear = new LiveEar(viewer, watching);
    trace.append(stepStarted(3));
    const { line } = await ear.event('run', ({ line }) => line.steps === 3);
    const later = await ear.event('run', ({ line: now }) => now.used.seconds > line.used.seconds + 1);
    expect(later.line.used.seconds).toBeLessThan(12);
    const { seconds_used } = await get(viewer, run, RunPage);
    expect(seconds_used).toBeGreaterThanOrEqual(later.line.used.seconds);
  });

  test('report that a run was graded after it ended, and that its report was made again', async () => {
    const scratch = temporaryFolder();
    const root = join(scratch, 'experiments');
    const { run: folder, snapshot } = await makeExampleRun(root);
    rmSync(join(folder.folder, 'grades.jsonl'));
    const viewer = await startViewer([root], scratch);
    const report = () => get(viewer, '/api/experiments/first/report', ReportPage);
    /** The last run may be read some time before the report is made. */
    const made = () => expect.poll(async () => (await report()).pending).toBeNull();
    await get(viewer, '/api/experiments/first', ExperimentPage);
    const ear = new LiveEar(viewer, '?experiment=first');
    await report();
    await ear.event('report', ({ done, total }) => done === total);
    await made();
    expect((await report()).report?.runs[0]).toMatchObject({ outcome: 'unfinished', score: null });
    const later = new LiveEar(viewer, '?experiment=first');
    await later.event('hello');
    folder.appendGrade(exampleGrade(snapshot));
    await later.event('results', (event) => event.run === folder.id);
    // An immediate request may get the old report; an event follows when the new one is ready.
    await report();
    await later.event('report', ({ done, total }) => done === total);
    await made();
    expect((await report()).report?.runs[0]).toMatchObject({ outcome: 'small_improvement', score: 0.93 });
  });

  test('leave a killed run in the state of its trace', async () => {
    const { viewer, lock } = await runningExample();
    await get(viewer, '/api/experiments/first', ExperimentPage);
    const ear = new LiveEar(viewer);
    await ear.event('hello');
    lock.release();
    const { line } = await ear.event('run', ({ line }) => line.status === 'interrupted');
    expect(line).toMatchObject({ steps: 2, used: { tokens: 2480 } });
  });

  test('continue after a broken connection: missed events are sent once, and none twice', async () => {
    const { viewer, trace, snapshot } = await runningExample();
    const first = new LiveEar(viewer, watching);
    await first.event('steps');
    trace.append(stepStarted(3));
    const { heard } = await first.event('steps', ({ timeline }) => timeline.total === 3);
    first.close();
    trace.append(stepFinished(3, snapshot));
    trace.append(stepStarted(4));
    await new Promise((resolve) => setTimeout(resolve, 400));
    const second = new LiveEar(viewer, watching, heard.id);
    await second.event('hello');
    await second.event('steps', ({ timeline }) => timeline.total === 4);
    const ids = second.heard.filter(({ event }) => event.kind === 'steps').map(({ id }) => id);
    expect(ids).not.toContain(heard.id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('say if too much was missed, or if the server was restarted', async () => {
    const { viewer } = await runningExample();
    await new LiveEar(viewer, watching, 'another-7').event('reload');
    await new LiveEar(viewer, watching, 'nonsense').event('reload');
  });
});
