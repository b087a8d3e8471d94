import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeBranchedRun } from '../../test/fixtures/store/branched-run.ts';
import { makeExampleRun } from '../../test/fixtures/store/example-run.ts';
import { temporaryFolder } from '../../test/fixtures/store/folders.ts';
import { traceText } from '../../test/fixtures/store/trace-text.ts';
import { EventPayload } from '../schema/index.ts';
import { checkRun } from './check-run.ts';

const documentation = readFileSync(join(import.meta.dirname, '../../docs/trace-format.md'), 'utf8');

/** The code blocks of one language. */
function blocks(language: string): string[] {
  return [...documentation.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)\n\`\`\`$`, 'gm'))].map(
    ([, code]) => code ?? '',
  );
}

test('docs/trace-format.md shows every kind of event, as the code writes it', async () => {
  using folder = temporaryFolder();
  const { run, snapshot } = await makeExampleRun(folder.path);
  const { run: branched } = await makeBranchedRun(folder.path);
  const written = [
    ...readFileSync(run.tracePath, 'utf8').split('\n'),
    ...readFileSync(branched.tracePath, 'utf8').split('\n'),
    run.objects.getText(snapshot).trimEnd(),
    readFileSync(run.gradesPath, 'utf8').trimEnd(),
    readFileSync(run.verificationsPath, 'utf8').trimEnd(),
  ];
  const shown = blocks('jsonl');
  for (const block of shown) expect(written).toContain(block);
  const kinds = shown.flatMap((block) => /"kind":"(\w+)"/.exec(block)?.[1] ?? []);
  const known = EventPayload.options.map((option) => option.shape.kind.value);
  expect([...new Set(kinds)].toSorted()).toEqual(known.toSorted());
  expect(await checkRun(run)).toEqual([]);
});

test('the Python code of docs/trace-format.md distinguishes an intact trace from a changed one', async () => {
  using folder = temporaryFolder();
  const { run } = await makeExampleRun(folder.path);
  const [code = ''] = blocks('python');
  const verify = () =>
    execFileSync('python3', ['-c', code], {
      ...{ input: traceText(run.tracePath), encoding: 'utf8', stdio: 'pipe' },
    });
  expect(verify()).toContain(run.readRecord()?.trace?.hash);
  const trace = readFileSync(run.tracePath, 'utf8');
  writeFileSync(run.tracePath, trace.replace('learning rate', 'learning hate'));
  expect(verify).toThrow('the chain breaks at line 4');
  writeFileSync(run.tracePath, trace.slice(0, -1));
  expect(verify).toThrow('is torn');
});
