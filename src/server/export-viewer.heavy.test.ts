import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeExampleRun } from '../../test/fixtures/store/example-run.ts';
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
