import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { removeTree } from '../../src/lib/read-only-tree.ts';
import { mlab } from '../fixtures/mlab-command.ts';

/** Changed copies of digits, each leaking in another way: `mlab tasks check` says where and how. */
const root = join(import.meta.dirname, '../..');
const scratch = mkdtempSync(join(tmpdir(), 'mlab-leaking-'));
afterAll(() => removeTree(scratch));

const Output = z.object({
  tasks: z.array(
    z.object({
      leaks: z.array(z.object({ check: z.string(), outcome: z.string(), faults: z.array(z.string()) })),
    }),
  ),
});

type Change = [file: string, from: string, to: string];

/** The folder of a copy in which a text of one file is replaced. */
function changed(name: string, changes: readonly Change[]): string {
  const folder = join(scratch, name, 'digits');
  cpSync(join(root, 'tasks/digits'), folder, { recursive: true });
  for (const [file, from, to] of changes) {
    const path = join(folder, file);
    const text = readFileSync(path, 'utf8');
    expect(text).toContain(from);
    writeFileSync(path, text.replace(from, to));
  }
  return folder;
}

const prepare = 'hidden/prepare.py';
const ending = '    write_hidden_test(folders, header, rows[TRAIN_ROWS:], "id", "digit")\n';
const after = (line: string): Change[] => [[prepare, ending, `${ending}    ${line}\n`]];

const leaking: Record<string, { changes: Change[]; check: string; says: string }> = {
  'the label is left in the test table': {
    changes: after('write_table(folders.public / "test.csv", header, rows[TRAIN_ROWS:])'),
    check: 'hidden-values',
    says: 'data/test.csv, digit: tells the hidden digit of 100 % of the rows',
  },
  'a table holds every label': {
    changes: after('write_table(folders.public / "all.csv", header, sorted(rows, key=lambda r: r[5:]))'),
    check: 'hidden-values',
    says: 'data/all.csv, digit: tells the hidden digit of 100 % of the rows',
  },
  'a package of the environment ships the data': {
    changes: [['task.yaml', 'withheld:\n  - sklearn/datasets/data/digits.csv.gz\n', '']],
    check: 'hidden-values',
    says: 'sklearn/datasets/data/digits.csv.gz',
  },
  'rows are ordered by class': {
    changes: [
      [
        prepare,
        'for number, position in enumerate(order_by_content(pixels))',
        'for number, position in enumerate(O)',
      ],
      [
        prepare,
        '    rows = [\n',
        '    O = sorted(order_by_content(pixels)[:1000], key=int) + sorted(\n        order_by_content(pixels)[1000:], key=lambda p: digits.target[p])\n    rows = [\n',
      ],
    ],
    check: 'row-order',
    says: "the row's position tells digit",
  },
  'what is prepared depends on the clock and on the folder': {
    changes: after(
      'import time; write_table(folders.public / "about.csv", ["when"], [[time.strftime("%Y-%m")], [time.time() // 9e5]])',
    ),
    check: 'same-data',
    says: 'public/about.csv has different bytes',
  },
};

test.for(Object.entries(leaking))(
  '%s: a leak check reports it',
  { timeout: 240_000 },
  async ([name, leak]) => {
    const folder = changed(name.replaceAll(' ', '-'), leak.changes);
    const { code, stdout, stderr } = await mlab('tasks', 'check', folder, '--only', leak.check, '--json');
    expect(stdout, stderr).not.toBe('');
    expect(code).toBe(1);
    const [task] = Output.parse(JSON.parse(stdout)).tasks;
    expect(task?.leaks).toMatchObject([{ check: leak.check, outcome: 'leaks' }]);
    expect(task?.leaks[0]?.faults.join('\n')).toContain(leak.says);
  },
);

test('invented figures are detected by the scores of the oracle and the baseline', {
  timeout: 240_000,
}, async () => {
  const folder = changed('made-up-figures', [
    ['task.yaml', 'mean: 0.9875', 'mean: 0.95'],
    ['task.yaml', 'mean: 0.8529', 'mean: 0.95'],
  ]);
  const { code, stdout, stderr } = await mlab(
    ...['tasks', 'check', folder, '--only', 'oracle,baseline,reference-score,baseline-score', '--json'],
  );
  expect(stdout, stderr).not.toBe('');
  expect(code).toBe(1);
  const [task] = Output.parse(JSON.parse(stdout)).tasks;
  const said = task?.leaks.map(({ check, faults }) => [check, faults.join('\n')]);
  expect(said).toEqual([
    [
      'baseline-score',
      expect.stringMatching(/^the agent baseline scored 0\.8\d+, and task\.yaml says 0\.95 .*--write/),
    ],
    [
      'reference-score',
      expect.stringMatching(/^the agent oracle scored 0\.9875, and task\.yaml says 0\.95 ± 0/),
    ],
  ]);
});

test('the label hunter, which knows no task, wins where a package ships the data', async () => {
  const folder = changed(
    'for-the-hunter',
    leaking['a package of the environment ships the data']?.changes ?? [],
  );
  const { stdout, stderr } = await mlab('tasks', 'check', folder, '--only', 'label-hunter', '--json');
  expect(stdout, stderr).not.toBe('');
  const Agents = z.object({ agents: z.array(z.object({ succeeded: z.boolean(), score: z.number() })) });
  const [task] = z.object({ tasks: z.array(Agents) }).parse(JSON.parse(stdout)).tasks;
  expect(task?.agents).toEqual([{ succeeded: true, score: 1 }]);
}, 240_000);
