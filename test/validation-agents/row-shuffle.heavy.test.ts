import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { fixtureTasks, TaskBench } from '../fixtures/fixture-task.ts';
import { mlab } from '../fixtures/mlab-command.ts';

const bench = new TaskBench();
afterAll(() => bench[Symbol.dispose]());

const Output = z.object({
  tasks: z.array(
    z.object({
      leaks: z.array(
        z.object({
          check: z.string(),
          outcome: z.string(),
          faults: z.array(z.string()),
          notes: z.array(z.string()),
        }),
      ),
    }),
  ),
});

const original = (path: string) => readFileSync(join(fixtureTasks, 'sums', path), 'utf8');

function edited(path: string, from: string, to: string): Record<string, string> {
  const text = original(path);
  expect(text).toContain(from);
  return { [path]: text.replace(from, to) };
}

const grader = 'hidden/grade.py';
const matched = 'submission.table.column("sum", list(labels))';
const byPosition =
  '[float(line.split(",")[1]) for line in submission.read("submission.csv").decode().split()[1:]]';
const readsAnyFile = {
  ...edited(grader, matched, byPosition),
  ...edited(
    'task.yaml',
    '    - format: csv\n      path: submission.csv\n      id: { column: id, from: test.csv }\n      columns:\n        - { name: sum, type: number }\n',
    '    - { format: file, path: submission.csv, description: the sums }\n',
  ),
};

interface Case {
  changes: Record<string, string>;
  outcome: 'ok' | 'leaks' | 'not_run';
  /** A part of its faults and notes. */
  says: string;
}

const cases: Record<string, Case> = {
  'a grader that matches ids passes': {
    changes: edited(
      'hidden/solution/train.py',
      'csv.writer(file)',
      'csv.writer(file, quoting=csv.QUOTE_ALL)',
    ),
    outcome: 'ok',
    says: "with its rows in another order, the oracle's submission scores 0, as before",
  },
  'a grader that compares by position is caught': {
    changes: edited(grader, matched, byPosition),
    outcome: 'leaks',
    says: "the oracle's submission scores 14.4, and 0 as it was written. Match rows by the column id, not by their position",
  },
  'a grader that accepts one order only is caught': {
    changes: edited(
      grader,
      '        sums =',
      `        from mlab_task.problems import Rejected
        if ${byPosition} != [float(true) for true in labels.values()]:
            raise Rejected("wrong_output", "not in order")
        sums =`,
    ),
    outcome: 'leaks',
    says: "the oracle's submission is not valid (not in order), and scores 0 as it was written",
  },
  'a submission without a table is not checked': {
    changes: readsAnyFile,
    outcome: 'not_run',
    says: 'the submission has no file of the format csv',
  },
  'an oracle without a valid submission is not checked': {
    changes: edited('hidden/solution/train.py', '["id", "sum"]', '["id", "total"]'),
    outcome: 'not_run',
    says: 'the oracle made no valid submission',
  },
};

test.for(Object.entries(cases))('%s', async ([name, { changes, outcome, says }]) => {
  const folder = join(bench.copyTask(name.replaceAll(' ', '-'), changes), 'sums');
  const { code, stdout, stderr } = await mlab(
    ...['tasks', 'check', folder, '--only', 'oracle,row-shuffle', '--json'],
  );
  expect(stdout, stderr).not.toBe('');
  const [task] = Output.parse(JSON.parse(stdout)).tasks;
  expect(task?.leaks).toMatchObject([{ check: 'row-shuffle', outcome }]);
  expect(task?.leaks.flatMap(({ faults, notes }) => [...faults, ...notes]).join('\n')).toContain(says);
  if (outcome !== 'not_run') expect(code).toBe(outcome === 'ok' ? 0 : 1);
});
