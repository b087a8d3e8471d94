import { cpSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { makeExampleRun } from '../../test/fixtures/store/example-run.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { Report } from '../schema/index.ts';
import { createContext } from './context.ts';
import { locateRun, locateRuns } from './locate.ts';
import type { Verb } from './verb.ts';
import { report } from './verbs/report.ts';
import { runsLs } from './verbs/runs-ls.ts';
import { runsRm } from './verbs/runs-rm.ts';

let folder: string;

/** `first` has one run that ended and one that has not begun; `first-copy` is a copy of its folder. */
beforeEach(async () => {
  folder = temporaryFolder();
  await makeExampleRun(folder);
  cpSync(join(folder, 'first'), join(folder, 'first-copy'), { recursive: true, preserveTimestamps: true });
});

function contextHere() {
  return { ...createContext({ dir: folder }, {}, '1', new AbortController().signal), log: () => {} };
}

async function textOf(verb: Verb, names: string[], flags = {}): Promise<string> {
  return (await verb.run(contextHere(), names, flags)).text;
}

const asText = { format: 'text', convention: 'every-run' };

test('runs of a copied experiment are listed under the name of its folder, which is said once', async () => {
  const text = await textOf(runsLs, ['first', 'first-copy']);
  for (const name of ['first', 'first-copy'])
    for (const run of ['digits-baseline-0', 'digits-noop-0'])
      expect(text.match(new RegExp(`^${name}/${run} `, 'gm'))).toHaveLength(1);
  expect(text.match(/first-copy was planned as first\./g)).toHaveLength(1);
  expect(await textOf(runsLs, ['first'])).not.toContain('planned as');
});

test('a run with the same id in a copy is found by the name of its folder', () => {
  const context = contextHere();
  expect(() => locateRun(context, 'digits-baseline-0')).toThrow(
    expect.objectContaining({ hint: 'Name one: first/digits-baseline-0, first-copy/digits-baseline-0.' }),
  );
  const found = locateRuns(context, ['*-copy/digits-*']);
  expect(found.map(({ folder: run }) => run.folder)).toEqual(
    ['digits-baseline-0', 'digits-noop-0'].map((id) => join(folder, 'first-copy/runs', id)),
  );
});

test('a report counts a run and its copy once, in any order, and says so', async () => {
  const { pairs } = Report.parse((await report.run(contextHere(), ['first'], asText)).json);
  for (const names of [
    ['first', 'first-copy'],
    ['first-copy', 'first'],
  ]) {
    const { text, json } = await report.run(contextHere(), names, asText);
    const both = Report.parse(json);
    const [alone, together] = [pairs, both.pairs].map((all) => all.find(({ valid }) => valid > 0));
    expect(together?.success).toEqual(alone?.success);
    expect(together?.runs).toBe(2 + (alone?.runs ?? 0) - 1);
    expect(both.copies).toEqual([{ experiment: 'first-copy', of: 'first', runs: ['digits-baseline-0'] }]);
    expect(text.replaceAll(/\s+/g, ' ')).toContain(
      'first-copy is a copy of first: 1 run is in both and counted once.',
    );
  }
});

test('an experiment is compared with its copy by the names of their folders', async () => {
  const text = await textOf(report, [], { ...asText, compare: ['first', 'first-copy'] });
  expect(text).toContain('first-copy is compared with first');
  expect(text.replaceAll(/\s+/g, ' ')).toContain('the comparison compares it with itself');
});

test('a renamed experiment keeps its runs, under its new name', async () => {
  renameSync(join(folder, 'first-copy'), join(folder, 'second'));
  const text = await textOf(report, ['second'], { ...asText, format: 'csv', table: ['runs'] });
  expect(text).toContain('second/digits-baseline-0');
  expect(await textOf(report, ['second'], asText)).toContain('second was planned as first.');
});

test('removing a copy names the copy, and keeps the original', async () => {
  expect(await textOf(runsRm, ['first-copy'], { yes: true })).toMatch(/^Deleted:\n {2}first-copy \(2 runs/);
  expect(await textOf(runsLs, [])).toContain('first/digits-baseline-0');
});

test('a folder whose name is none of an experiment is left out aloud, and named by its folder if it is given', async () => {
  for (const name of ['lim (1)', '()'])
    cpSync(join(folder, 'first'), join(folder, name), { recursive: true, preserveTimestamps: true });
  const lines: string[] = [];
  const context = { ...contextHere(), log: (line: string) => void lines.push(line) };
  for (const names of [[], ['first*'], ['first*/digits-*']]) {
    lines.length = 0;
    expect((await runsLs.run(context, names, {})).text).not.toContain('lim');
    expect(lines).toEqual([
      'left out: "()" is no name of an experiment: rename the folder',
      'left out: "lim (1)" is no name of an experiment: rename the folder',
    ]);
  }
  lines.length = 0;
  expect(locateRuns(context, ['first*'])).toHaveLength(4);
  expect(lines).toHaveLength(2);
  expect(await textOf(runsLs, ['lim (1)'])).toMatch(/^lim-1\/digits-baseline-0 /m);
  expect(await textOf(runsLs, ['()'])).toMatch(/^first\/digits-baseline-0 /m);
});
