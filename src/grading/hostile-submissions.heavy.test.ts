import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fixtureTasks, helpersFolder, TaskBench } from '../../test/fixtures/fixture-task.ts';
import { describeInSandbox } from '../../test/fixtures/needs-sandbox.ts';
import { agentOf, runOnce } from '../../test/fixtures/run-place.ts';
import type { TaskResources } from '../runs/index.ts';
import type { Grade } from '../schema/index.ts';
import { gradeRun } from './index.ts';

/** A task whose grader calls the submitted `double` a few times, and fails as a hostile answer makes it fail. */
const grader = `import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.grading import grade, read_arguments
from mlab_task.submission_workers import running_worker

arguments = read_arguments()


def called(submission):
    with running_worker(arguments.exchange, submission.name) as worker:
        answers = [
            worker.call_json("double", {"x": x}, seconds=5, most_bytes=1_000)[0] for x in range(4)
        ]
    eaten = []
    while "eat" in answers:
        eaten.append(os.urandom(2**20))
    while "spin" in answers:
        pass
    if "crash" in answers:
        os._exit(3)
    return float(sum(abs(answer - 2 * x) for x, answer in enumerate(answers)))


grade(called, arguments)
print('{"results": [{"submission": "x", "valid": true, "score": 7, "problems": []}]}')
`;
const starter = 'def double(x):\n    return x + 1\n';
const seconds = 5;

const bench = new TaskBench();
let resources: TaskResources;

beforeAll(async () => {
  const yaml = readFileSync(join(fixtureTasks, 'sums/task.yaml'), 'utf8');
  const [head = ''] = yaml.split('  files:');
  const tasks = bench.copyTask('hostile', {
    'task.yaml': `${head}  files:
    - { format: python, path: train.py, defines: [double] }
grading: { runs_submission: true, seconds: ${seconds}, memory_mb: 150 }
`,
    'hidden/grade.py': grader,
    'env/train.py': starter,
    'hidden/solution/train.py': starter,
  });
  resources = await bench.provision(tasks);
});
afterAll(() => bench[Symbol.dispose]());

/** Submits one source per step, and grades all of them at once. */
async function gradesOf(sources: readonly string[]): Promise<Grade[]> {
  const agent = agentOf(async ({ environment }) => {
    for (const content of sources) {
      await environment.step({ name: 'Write File', args: { file_name: 'train.py', content } });
    }
  });
  const { folder } = await runOnce(join(bench.experiments, String(sources.length)), resources, agent);
  const signal = new AbortController().signal;
  const grades = await gradeRun({ folder, ...resources, helpersFolder, which: 'all', signal });
  return grades.slice(1);
}

describeInSandbox('the results of one grading', () => {
  test('a failure that a submission causes is only its own result', async () => {
    const good = 'def double(x):\n    return 2 * x\n';
    const hostile: [source: string, code: string, reason: RegExp][] = [
      // No single call exceeds the limit; all of them together do.
      [`import time\n${good.replace('return', 'time.sleep(2); return')}`, 'timed_out', /more than 5 s/],
      [
        `import time\ndef double(x):\n    _ = b"x" * 200 * 2**20; time.sleep(4)\n`,
        'crashed',
        /150 MB of memory/,
      ],
      ['import os\ndef double(x):\n    os.kill(os.getpid(), 11)\n', 'crashed', /process ended/],
      ['def double(x):\n    return "eat"\n', 'crashed', /memory.*on its own.*starter/],
      ['def double(x):\n    return "spin"\n', 'timed_out', /10 s.*the starter took/],
      ['def double(x):\n    return "crash"\n', 'crashed', /exit code 3.*on its own.*starter/],
    ];
    const flood = `import os\nfor _ in range(2000): os.write(1, b"x" * 2**15)\n${good}`;
    const grades = await gradesOf([flood, ...hostile.map(([source]) => source), good]);
    const [flooding, ...others] = grades;
    expect(flooding).toMatchObject({ valid: true, score: 0 });
    expect(others.pop()).toMatchObject({ valid: true, score: 0 });
    for (const [index, [source, code, reason]] of hostile.entries()) {
      const grade = others[index];
      expect(grade, source).toMatchObject({ valid: false, score: null, problems: [{ code }] });
      expect(grade?.problems[0]?.message, source).toMatch(reason);
    }
  });
});
