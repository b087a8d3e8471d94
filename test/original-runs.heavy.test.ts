import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { exportRuns, importOriginalRuns } from '../src/exchange/index.ts';
import { gradeRun } from '../src/grading/index.ts';
import { cacheFolder } from '../src/lib/cache-folder.ts';
import type { ObjectId } from '../src/schema/index.ts';
import { checkRun, type Experiment, readTraceSync } from '../src/store/index.ts';
import { ensurePython, loadTask, prepareTask } from '../src/tasks/index.ts';
import { noSandbox } from './fixtures/needs-sandbox.ts';
import { sharedData } from './fixtures/shared-data.ts';
import { temporaryFolder } from './fixtures/temporary-folder.ts';

/** Published runs of the original: not part of the project, but beside it if they are available. */
const root = join(import.meta.dirname, '..');
const data = sharedData();
const recordings = data === null ? null : join(data, '../recorded-runs');
const there = recordings !== null && existsSync(recordings);
const why = there ? '' : ' (skipped: there are no recorded runs beside this checkout)';

async function importFrom(folder: string, experiments: string): Promise<Experiment> {
  const { experiment } = await importOriginalRuns({
    ...{ folders: [folder], name: 'originals', experiments, taskFolders: [join(root, 'tasks')] },
    ...{ sandbox: 'bubblewrap', version: '0', onProgress: () => {}, signal: new AbortController().signal },
  });
  return experiment;
}

function traces(experiment: Experiment): string[] {
  return experiment.runIds.map((id) => {
    const { events } = readTraceSync(experiment.runFolder(id).tracePath);
    return JSON.stringify(events.at(-1));
  });
}

describe.skipIf(!there)(`recorded runs of the original${why}`, () => {
  test('all of them are imported completely, and again from exported log folders as the same traces', async () => {
    const scratch = temporaryFolder();
    const experiment = await importFrom(recordings ?? '', join(scratch, 'one'));
    expect(experiment.runIds.length).toBeGreaterThanOrEqual(74);
    const folders = experiment.runIds.map((id) => experiment.runFolder(id));
    const verified = new Map<ObjectId, number>();
    for (const folder of folders) expect(await checkRun(folder, { verified })).toEqual([]);
    const steps = folders.map((folder) => folder.readRecord()?.steps ?? 0);
    expect(steps.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(2486);
    await exportRuns({
      ...{ folders, to: 'mlagentbench', out: join(scratch, 'out'), variables: {}, onProgress: () => {} },
      signal: new AbortController().signal,
    });
    const again = await importFrom(join(scratch, 'out'), join(scratch, 'two'));
    // The last event contains the hash of all before it.
    expect(traces(again)).toEqual(traces(experiment));
  });

  test.skipIf(noSandbox !== undefined).each([
    { id: 'house-price', scores: [55417.2, 20613.1, 21817.6, null, 22525.5], digits: 1 },
    { id: 'spaceship-titanic', scores: [0.7234, 0.7303, 0.7269, null, 0.7257], digits: 4 },
  ])('grading $id gives the scores that its submissions have', async ({ id, scores, digits }) => {
    const task = loadTask(id, [join(root, 'tasks')]);
    const { signal } = new AbortController();
    const place = { cache: cacheFolder(process.env), signal };
    const python = await ensurePython(task.requirements, place);
    const helpersFolder = join(root, 'python');
    const prepared = await prepareTask(task, {
      ...{ ...place, python, mirror: data, helpers: helpersFolder, allowUnverified: true },
    });
    const experiment = await importFrom(join(recordings ?? '', 'gemini-pro', id), temporaryFolder());
    const found = [];
    for (const run of experiment.runIds) {
      const folder = experiment.runFolder(run);
      const own = { task, python, prepared, concealed: [], helpersFolder } as const;
      const options = { ...own, folder, which: 'final', signal } as const;
      const [grade] = await gradeRun(options);
      found.push(grade?.score ?? null);
    }
    expect(found.map((score) => (score === null ? null : Number(score.toFixed(digits))))).toEqual(scores);
  });
});
