import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { helpersFolder, TaskBench } from '../../test/fixtures/fixture-task.ts';
import { describeInSandbox } from '../../test/fixtures/needs-sandbox.ts';
import { agentOf, runOnce } from '../../test/fixtures/run-place.ts';
import type { TaskResources } from '../runs/index.ts';
import type { Grade } from '../schema/index.ts';
import { currentGrades, type RunFolder, recordedStates } from '../store/index.ts';
import { GraderFailed, gradeRun } from './index.ts';

const bench = new TaskBench();
let resources: TaskResources;
let places = 0;

beforeAll(async () => {
  resources = await bench.provision();
});
afterAll(() => bench[Symbol.dispose]());

/** Ids 0, 3, … 27 with the sums 0, 4, … 36. */
const sums = Array.from({ length: 10 }, (_, index) => `${index},${3 * index + index}`);
const table = (rows: readonly string[], header = 'id,sum') => `${[header, ...rows].join('\n')}\n`;

/** A run in which each text is one step's shell command. */
async function runOf(commands: readonly string[], task = resources, name = 'scripted'): Promise<RunFolder> {
  places += 1;
  const agent = agentOf(async ({ environment }) => {
    for (const command of commands) await environment.step({ name: 'Run Command', args: { command } });
  }, name);
  const { folder, record } = await runOnce(join(bench.experiments, String(places)), task, agent);
  if (record.status !== 'finished') throw new Error(record.end?.message);
  return folder;
}

function grade(folder: RunFolder, which: 'final' | 'all' = 'final', task = resources): Promise<Grade[]> {
  return gradeRun({ folder, ...task, helpersFolder, which, signal: new AbortController().signal });
}

function writing(content: string): string {
  return `cat > submission.csv <<'END'\n${content}END`;
}

describeInSandbox('a submission', () => {
  test('is matched by id, whatever the order of its rows and columns', async () => {
    const shuffled = [...sums].reverse();
    const turned = shuffled.map((row) => row.split(',').reverse().join(','));
    const folder = await runOf([
      writing(table(sums)),
      writing(table(shuffled)),
      writing(table(turned, 'sum,id')),
    ]);
    const grades = await grade(folder, 'all');
    expect(grades.map(({ step, score, valid, final }) => [step, score, valid, final])).toEqual([
      [0, null, false, false],
      [1, 0, true, false],
      [2, 0, true, false],
      [3, 0, true, true],
    ]);
  });

  test('that is invalid gets a problem for each kind of mistake, and never a score', async () => {
    const cases: [string, string][] = [
      [writing(table(sums, 'id,total')), 'wrong_columns'],
      [writing(table(sums.slice(1))), 'missing_ids'],
      [writing(table([...sums, '10,1'])), 'extra_ids'],
      [writing(table([...sums, '3,1'])), 'duplicate_ids'],
      [writing(table(['0,nan', ...sums.slice(1)])), 'not_finite'],
      [writing(table(['0,-inf', ...sums.slice(1)])), 'not_finite'],
      [writing(table(['0,none', ...sums.slice(1)])), 'not_a_number'],
      ['rm submission.csv', 'missing_file'],
      ['mkdir submission.csv', 'not_a_file'],
      ['rmdir submission.csv; ln -s data/test.csv submission.csv', 'not_a_file'],
      ['rm submission.csv; head -c 2000000 /dev/zero > submission.csv', 'too_large'],
      ["printf '\\377\\376\\0' > submission.csv", 'unreadable'],
      [': > submission.csv', 'unreadable'],
    ];
    const grades = await grade(await runOf(cases.map(([command]) => command)), 'all');
    const codes = grades.slice(1).map(({ problems }) => problems.map(({ code }) => code));
    for (const [index, [command, code]] of cases.entries()) {
      if (command.startsWith(':')) expect(codes[index]?.length).toBeGreaterThan(0);
      else expect(codes[index], command).toContain(code);
    }
    expect(grades.every(({ score, valid }) => score === null && !valid)).toBe(true);
  });

  test('that is no file is named as what it is, in every step and at the end', async () => {
    const socket = 'python -c "import socket; socket.socket(socket.AF_UNIX).bind(\'submission.csv\')"';
    const folder = await runOf(['rm submission.csv; mkfifo submission.csv', `rm submission.csv; ${socket}`]);
    const grades = await grade(folder, 'all');
    expect(grades.slice(1).map(({ problems }) => problems)).toEqual([
      [{ code: 'not_a_file', message: 'submission.csv is a pipe, not a file.' }],
      [{ code: 'not_a_file', message: 'submission.csv is a socket, not a file.' }],
    ]);
    expect(recordedStates(folder).at(-1)?.skipped).toEqual([{ path: 'submission.csv', reason: 'socket' }]);
  });

  test('that a later script did not write again is graded and flagged as stale', async () => {
    places += 1;
    const agent = agentOf(async ({ environment }) => {
      for (const script_name of ['train.py', 'other.py']) {
        await environment.step({ name: 'Write File', args: { file_name: 'other.py', content: '' } });
        await environment.step({ name: 'Execute Script', args: { script_name } });
      }
    });
    const { folder } = await runOnce(join(bench.experiments, String(places)), resources, agent);
    expect(await grade(folder)).toMatchObject([{ stale: true, score: 4.5, valid: true, final: true }]);
  });
});

describeInSandbox('the grader', () => {
  /** Copies the task with a grader that does something first; each start adds a line to a file that only it can write. */
  async function withGrader(name: string, before: string, after = ''): Promise<TaskResources> {
    const grader = readFileSync(join(resources.task.hiddenFolder, 'grade.py'), 'utf8');
    const changed = grader.replace('    main()\n', `    ${before}\n    main()\n    ${after}\n`);
    return bench.provision(bench.copyTask(name, { 'hidden/grade.py': changed }));
  }

  test('is started once for all distinct submissions of a run, and not again for graded ones', async () => {
    const folder = await runOf([
      writing(table(sums)),
      'true',
      writing(table(['0,9', ...sums.slice(1)])),
      writing(table(sums)),
    ]);
    const first = await grade(folder, 'all');
    expect(first.map(({ score }) => score)).toEqual([null, 0, 0, 0.9, 0]);
    const lines = readFileSync(folder.gradesPath, 'utf8');
    const brokenPython = { ...resources, python: { ...resources.python, environment: '/no/such/venv' } };
    // It cannot be started any more, and need not be.
    expect(await grade(folder, 'all', brokenPython)).toEqual(first);
    expect(await grade(folder, 'final', brokenPython)).toEqual(first.slice(-1));
    expect(readFileSync(folder.gradesPath, 'utf8')).toBe(lines);
  });

  test('gives a known score the corrected baseline of the task', async () => {
    const folder = await runOf([writing(table(sums))]);
    const [before] = await grade(folder);
    const { task } = resources;
    const baseline = { ...task.file.baseline, mean: task.file.baseline.mean + 1 };
    const corrected = { ...resources, task: { ...task, file: { ...task.file, baseline } } };
    const [after] = await grade(folder, 'final', corrected);
    expect(after).toMatchObject({
      baseline: baseline.mean,
      grader: before?.grader,
      seconds: before?.seconds,
    });
    expect(await grade(folder, 'final', corrected)).toEqual([after]);
    const once = { ...baseline, method: 'starter' as const, seeds: 1, spread: 0 };
    const [known] = await grade(folder, 'final', {
      ...resources,
      task: { ...task, file: { ...task.file, baseline: once } },
    });
    expect(known?.figures?.baseline).toEqual({ mean: once.mean, spread: null, seeds: 1 });
  });

  test('that has changed grades again, and so does one that was restored', async () => {
    const folder = await runOf([writing(table(sums))]);
    const [before] = await grade(folder);
    const [after] = await grade(folder, 'final', await withGrader('other-grader', 'pass  # another version'));
    expect(after?.grader).not.toBe(before?.grader);
    const caveat = 'graded by another version of the task';
    expect([before?.caveats.includes(caveat), after?.caveats.includes(caveat)]).toEqual([false, true]);
    expect(folder.readGrades().grades.length).toBe(2);
    expect(await grade(folder)).toMatchObject([{ grader: before?.grader, score: 0 }]);
    expect(currentGrades(folder.readGrades().grades, recordedStates(folder))).toMatchObject([
      { grader: before?.grader },
    ]);
  });

  test.each(['hidden/lib/weights.json', 'hidden/lib/scoring.py', 'env/classes.txt'])(
    'grades again if what it may read has changed: %s',
    async (path) => {
      const folder = await runOf([writing(table(sums))]);
      const [before] = await grade(folder);
      const task = await bench.provision(bench.copyTask(path.replaceAll(/\W/g, '-'), { [path]: '# new' }));
      const [after] = await grade(folder, 'final', task);
      expect(after?.grader).not.toBe(before?.grader);
      const solution = bench.copyTask('solution', { 'hidden/solution/notes.txt': 'new' });
      const [same] = await grade(folder, 'final', await bench.provision(solution));
      expect(same?.grader).toBe(before?.grader);
    },
  );

  test('that crashes, prints nothing, prints nonsense or omits results gives no grade at all', async () => {
    const folder = await runOf([writing(table(sums))]);
    const graders: [string, RegExp][] = [
      ['raise RuntimeError("broken labels")', /exit code 1[\s\S]*broken labels/],
      ['import os; os._exit(0)', /left out results.*printed nothing/],
      // Graders did this before messages had a separate pipe.
      [
        'print(\'{"results": [{"submission": "s", "valid": true, "score": 0}]}\'); raise SystemExit(0)',
        /must call mlab_task.grading.grade .*; it printed last: .*"valid": true/,
      ],
      ['import os; open(os.environ["MLAB_HARNESS"], "w").write("x {}"); raise SystemExit(0)', /left out/],
      [
        'from mlab_task.harness import connect_harness; connect_harness().tell("result", result=3)',
        /message that can't be read/,
      ],
      ['import os; os.kill(os.getpid(), 11)', /SIGSEGV|exit code/],
    ];
    for (const [index, [before, message]] of graders.entries()) {
      const task = await withGrader(`failing-${index}`, before);
      const failure = await grade(folder, 'final', task).catch((error: unknown) => error);
      expect(failure, before).toBeInstanceOf(GraderFailed);
      expect(String(failure), before).toMatch(message);
    }
    expect(existsSync(folder.gradesPath)).toBe(false);
  });

  test('that raises an exception on every submission gives no grade, with the place of the exception', async () => {
    const folder = await runOf([writing(table(sums))]);
    const grader = readFileSync(join(resources.task.hiddenFolder, 'grade.py'), 'utf8');
    const faulty = grader.replace(/(def score\(.*\n)/, '$1        {}["delivry"]\n');
    const line = 1 + faulty.split('\n').findIndex((text) => text.includes('delivry'));
    const task = await bench.provision(bench.copyTask('key-error', { 'hidden/grade.py': faulty }));
    const failure = await grade(folder, 'final', task).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(GraderFailed);
    expect(String(failure)).toContain(`hidden/grade.py, line ${line}: KeyError: 'delivry'`);
    expect(String(failure)).toContain('Traceback (most recent call last)');
    expect(existsSync(folder.gradesPath)).toBe(false);
  });

  test('that raises an exception is at fault if the starter wrote the file, and may be if an agent did', async () => {
    const declared = /- format: csv[\s\S]*?type: number \}\n/;
    const yaml = readFileSync(join(resources.task.folder, 'task.yaml'), 'utf8');
    const grader = readFileSync(join(resources.task.hiddenFolder, 'grade.py'), 'utf8');
    const changes = {
      'task.yaml': yaml.replace(declared, '- { format: file, path: answers.jsonl, description: answers }\n'),
      'hidden/grade.py': grader.replace(/(def score\(.*\n)/, '$1        return lables\n'),
    };
    const task = await bench.provision(bench.copyTask('no-table', changes));
    const writes = ["echo '{}' > answers.jsonl"];
    const failure = grade(await runOf(writes, task, 'baseline'), 'final', task);
    await expect(failure).rejects.toThrow(/hidden\/grade\.py, line \d+: NameError: name 'lables'/);
    const [agents] = await grade(await runOf(writes, task), 'final', task);
    expect(agents?.problems[0]?.message).toMatch(
      /^the grader failed on this submission: NameError in .*, line \d+ \(the grader itself may be at fault: .*\)$/,
    );
    expect(agents?.caveats).toContainEqual(expect.stringMatching(/^the grader may be at fault: /));
  });

  test('that has NaN as its score gives no grade, unless a submission is to blame', async () => {
    const folder = await runOf([writing(table(sums)), writing(table(['0,1234', ...sums.slice(1)]))]);
    const grader = readFileSync(join(resources.task.hiddenFolder, 'grade.py'), 'utf8');
    const returning = (id: string, condition: string) =>
      bench.provision(
        bench.copyTask(id, {
          'hidden/grade.py': grader.replace(
            /(def score\(.*\n)/,
            `$1        if ${condition}: return float("nan")\n`,
          ),
        }),
      );
    const failure = grade(folder, 'all', await returning('always-nan', 'True'));
    await expect(failure).rejects.toThrow('the score is not a number (NaN)');
    const sometimes = await returning('sometimes-nan', '1234 in submission.table.column("sum")');
    const [, good, bad] = await grade(folder, 'all', sometimes);
    expect(good).toMatchObject({ valid: true, score: 0 });
    expect(bad).toMatchObject({ valid: false, score: null, problems: [{ code: 'crashed' }] });
  });

  test('that raises an exception because of a submission makes this submission invalid', async () => {
    const folder = await runOf([writing(table(sums)), writing(table(['0,1234', ...sums.slice(1)]))]);
    const grader = readFileSync(join(resources.task.hiddenFolder, 'grade.py'), 'utf8');
    const fragile = grader.replace(
      /(def score\(.*\n)/,
      '$1        if 1234 in submission.table.column("sum"): raise KeyError(list(labels.values()))\n',
    );
    const task = await bench.provision(bench.copyTask('fragile', { 'hidden/grade.py': fragile }));
    const [, good, bad] = await grade(folder, 'all', task);
    expect(good).toMatchObject({ valid: true, score: 0 });
    expect(bad).toMatchObject({ valid: false, score: null, problems: [{ code: 'crashed' }] });
    expect(bad?.problems[0]?.message).toMatch(
      /^the grader failed on this submission: KeyError in hidden\/grade.py, line \d+ \(it does not fail on the starter\)$/,
    );
    expect(bad?.details.grader_error).toContain('KeyError');
  });

  test('may print anything besides its results', async () => {
    const folder = await runOf([writing(table(sums))]);
    const task = await withGrader(
      'chatty',
      'import sys; print("warming up é", "x" * 200_000); print("a warning", file=sys.stderr)',
      'print("Exception ignored at exit", file=sys.stderr)',
    );
    expect(await grade(folder, 'final', task)).toMatchObject([{ score: 0, valid: true }]);
  });

  test('that takes too long is stopped, and gives no grade', async () => {
    const yaml = readFileSync(join(resources.task.folder, 'task.yaml'), 'utf8');
    const slow = bench.copyTask('slow-grader', {
      'task.yaml': yaml.replace('  seconds: 30\n  memory_mb: 256', '  seconds: 1\n  memory_mb: 256'),
      'hidden/grade.py': 'import time\ntime.sleep(600)\n',
    });
    const folder = await runOf([writing(table(sums))]);
    await expect(grade(folder, 'final', await bench.provision(slow))).rejects.toThrow('timed out');
  });
});
