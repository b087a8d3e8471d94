import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runInReadOnly } from '../../../test/fixtures/read-only-place.ts';
import { makeExampleRun } from '../../../test/fixtures/store/example-run.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';

const imported = (name: string, path: string) =>
  `const { ${name} } = await import(${JSON.stringify(join(import.meta.dirname, path))});`;
const opened = [
  imported('openExperiment', '../../store/index.ts'),
  "const folder = openExperiment('first').runFolder('digits-baseline-0');",
];

async function printedIn(context: { skip: (note: string) => never }, ...script: string[]): Promise<string> {
  const place = temporaryFolder();
  await makeExampleRun(place);
  const ran = runInReadOnly(place, [...opened, ...script].join('\n'));
  return 'printed' in ran ? ran.printed.trim() : context.skip(ran.obstacle);
}

test('results in a read-only folder fail with what is wrong, and at once', async (context) => {
  const printed = await printedIn(
    context,
    'const writing = folder.writeResults(folder.readRecord(), null, () => {});',
    'await writing.catch(({ code }) => console.log(code));',
  );
  expect(printed).toBe('EROFS');
});

test('a run in a read-only folder is not verified, since the result could not be kept', async (context) => {
  const printed = await printedIn(
    context,
    imported('verifyRun', '../index.ts'),
    'const signal = new AbortController().signal;',
    'await verifyRun({ folder, signal, versions: {} }).catch((error) => console.log(error.code ?? error));',
  );
  expect(printed).toBe('EROFS');
});

test('nor is anything in it graded', async (context) => {
  const printed = await printedIn(
    context,
    imported('gradeRun', '../../grading/index.ts'),
    "const submission = { files: [{ path: 'train.py' }], max_mb: 1 };",
    'const file = { metric: {}, submission, grading: {}, services: [] };',
    "const task = { file, brief: { submission }, hiddenFolder: '.', environmentFolder: '.' };",
    'const prepared = { manifest: { files: [] } };',
    `const helpersFolder = ${JSON.stringify(join(import.meta.dirname, '../../../python'))};`,
    "const options = { folder, task, prepared, helpersFolder, which: 'all' };",
    'await gradeRun(options).catch((error) => console.log(error.code ?? error));',
  );
  expect(printed).toBe('EROFS');
});
