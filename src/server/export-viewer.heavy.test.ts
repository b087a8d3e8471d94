import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { makeExampleRun } from '../../test/fixtures/store/example-run.ts';
import {
  examplePlan,
  modelCall,
  sessionStarted,
  stepFinished,
  stepStarted,
} from '../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import {
  ExperimentList,
  ExperimentPage,
  FileList,
  FileText,
  ReportPage,
  RunPage,
  StepDiff,
  StepPage,
  TaskPage,
  Timeline,
  ViewerInfo,
} from '../schema/index.ts';
import { createExperiment, Snapshotter, TraceWriter } from '../store/index.ts';
import { exportViewer } from './export-viewer.ts';

function options(folders: string[], pages: string, folder: string) {
  return {
    ...{ folders, tasks: ['tasks'], version: '1', command: 'mlab', pages, folder, onRun: () => {} },
    signal: new AbortController().signal,
  };
}

async function place() {
  const scratch = temporaryFolder();
  const root = join(scratch, 'experiments');
  await makeExampleRun(root);
  const pages = join(scratch, 'dist');
  mkdirSync(join(pages, 'assets'), { recursive: true });
  writeFileSync(join(pages, 'index.html'), '<!doctype html><html><head></head></html>');
  writeFileSync(join(pages, 'assets/page.js'), '');
  writeFileSync(join(pages, 'report.html'), '');
  return { root, pages, target: join(scratch, 'out') };
}

test('an export has at each address the final answer of the server', async () => {
  const { root, pages, target } = await place();
  mkdirSync(join(root, 'torn'));
  writeFileSync(join(root, 'torn/plan.json'), '{');
  const exported = await exportViewer(options([root], pages, target));
  expect(exported).toMatchObject({ experiments: 1, runs: 2, steps: 2, left: [{ what: 'torn' }] });
  const read = (address: string): unknown =>
    JSON.parse(readFileSync(join(target, 'api', `${address}.json`), 'utf8'));
  const run = 'experiments/first/runs/digits-baseline-0';
  expect(ViewerInfo.parse(read('info')).source).toBe('export');
  expect(ExperimentList.parse(read('experiments')).experiments).toHaveLength(2);
  expect(ExperimentPage.parse(read('experiments/first')).runs).toHaveLength(2);
  expect(ReportPage.parse(read('experiments/first/report'))).toMatchObject({
    pending: null,
    report: { v: 1 },
  });
  expect(RunPage.parse(read(run))).toMatchObject({ pending: false, evaluation: { steps: 2 } });
  expect(Timeline.parse(read(`${run}/timeline`))).toMatchObject({ total: 2, grades: [{ score: 0.93 }] });
  for (const step of [0, 1, 2]) {
    expect(StepPage.parse(read(`${run}/steps/${step}`)).step).toBe(step);
    StepDiff.parse(read(`${run}/steps/${step}/diff`));
    const { files } = FileList.parse(read(`${run}/steps/${step}/files`));
    for (const { object } of files) {
      if (object !== null) FileText.parse(read(`experiments/first/objects/${object}`));
    }
  }
  TaskPage.parse(read('tasks/digits'));
  expect(readdirSync(target).toSorted()).toEqual(['api', 'assets', 'index.html']);
  expect(readFileSync(join(target, 'index.html'), 'utf8')).toContain(
    '<meta name="mlab-source" content="export">',
  );
});

/** A run whose conversation gets one more long message in each step, and the bytes of its steps in an export. */
async function exportedConversation(steps: number) {
  const { root, pages, target } = await place();
  const { tracePath, objects, id } = createExperiment(join(root, 'second'), examplePlan()).runFolder(
    'digits-baseline-0',
  );
  mkdirSync(dirname(tracePath), { recursive: true });
  {
    const snapshot = (await new Snapshotter(objects, temporaryFolder()).take()).id;
    await using trace = TraceWriter.open(tracePath, objects);
    trace.append(sessionStarted(snapshot));
    for (let step = 1; step <= steps; step++) {
      const before = step === 1 ? [] : [{ call: step - 1, from: 0, count: step - 1 }];
      const text = JSON.stringify({ role: 'user', text: `${step} ${'x'.repeat(10_000)} the end` });
      trace.append(modelCall(step, { messages: [...before, trace.textRef(text)] }));
      trace.append(stepStarted(step));
      trace.append(stepFinished(step, snapshot));
    }
  }
  await exportViewer(options([join(root, 'second')], pages, target));
  const folder = join(target, `api/experiments/second/runs/${id}/steps`);
  const read = (step: number) => readFileSync(join(folder, `${step}.json`), 'utf8');
  const texts = Array.from({ length: steps }, (_, index) => read(index + 1));
  return {
    bytes: texts.reduce((sum, text) => sum + text.length, 0),
    last: StepPage.parse(JSON.parse(texts.at(-1) ?? '')),
  };
}

test('an export of a long conversation grows with its steps: each has its new message whole, and names the step of the others', async () => {
  const [short, long] = [await exportedConversation(20), await exportedConversation(40)];
  expect(long.bytes / short.bytes).toBeLessThan(2.1);
  expect(long.last.calls[0]?.messages).toMatchObject([
    { call: 39, step: 39, from: 0, count: 39 },
    { text: { text: expect.stringMatching(/^40 x{10000} the end$/), part: null } },
  ]);
});

test('an export replaces an earlier one, and no other folder', async () => {
  const { root, pages, target } = await place();
  await exportViewer(options([join(root, 'first')], pages, target));
  await exportViewer(options([join(root, 'first')], pages, target));
  await expect(exportViewer(options([root], pages, root))).rejects.toThrow('is not empty');
  await expect(exportViewer(options([root], join(root, 'no-pages'), target))).rejects.toThrow('not built');
});

test('an aborted export stops', async () => {
  const { root, pages, target } = await place();
  const stop = new AbortController();
  const stopped = exportViewer({
    ...options([root], pages, target),
    signal: stop.signal,
    onRun: () => stop.abort(),
  });
  await expect(stopped).rejects.toThrow(/abort/i);
});
