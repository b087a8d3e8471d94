import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fixtureTasks, helpersFolder, TaskBench } from '../../test/fixtures/fixture-task.ts';
import { describeInSandbox } from '../../test/fixtures/needs-sandbox.ts';
import { agentOf, runOnce } from '../../test/fixtures/run-place.ts';
import type { TaskResources } from '../runs/index.ts';
import type { Grade } from '../schema/index.ts';
import { gradeRun } from './index.ts';

/** A task whose grader calls the submitted `double` on hidden inputs; the score is the largest error. */
const grader = `import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

import numpy

from mlab_task.submission_workers import STARTER, running_worker
from mlab_task.frames import as_raw_arrays
from mlab_task.grading import Score, grade, read_arguments
from mlab_task.problems import Rejected

arguments = read_arguments()
inputs = numpy.frombuffer(os.urandom(80), dtype="<i8").astype(float) % 1000


def called(name):
    with running_worker(arguments.exchange, name) as worker:
        (answer,), _ = worker.call(
            "double", as_raw_arrays([inputs]), {}, seconds=5, most_bytes=10_000
        )
    output = numpy.frombuffer(answer.data, dtype=answer.dtype)
    if output.shape != inputs.shape:
        raise Rejected("wrong_shape", "another shape")
    return float(numpy.abs(output - 2 * inputs).max())


grade(lambda submission: Score(called(submission.name), called(STARTER)), arguments)
`;
const starter = 'import numpy\n\n\ndef double(x):\n    return x + numpy.float64(1)\n';

const bench = new TaskBench();
let resources: TaskResources;
let places = 0;

beforeAll(async () => {
  const yaml = readFileSync(join(fixtureTasks, 'sums/task.yaml'), 'utf8');
  const [head = ''] = yaml.split('  files:');
  const requirements = readFileSync(
    join(import.meta.dirname, '../../tasks/vectorization/requirements.txt'),
    'utf8',
  );
  const tasks = bench.copyTask('doubles', {
    'task.yaml': `${head}  files:\n    - { format: python, path: train.py, defines: [double] }\ngrading: { runs_submission: true, seconds: 60 }\n`,
    'hidden/grade.py': grader,
    'env/train.py': starter,
    'hidden/solution/train.py': starter,
    'requirements.txt': requirements,
  });
  resources = await bench.provision(tasks);
});
afterAll(() => bench[Symbol.dispose]());

async function gradeOf(source: string): Promise<Grade | undefined> {
  places += 1;
  const agent = agentOf(async ({ environment }) => {
    await environment.step({ name: 'Write File', args: { file_name: 'train.py', content: source } });
  });
  const { folder } = await runOnce(join(bench.experiments, String(places)), resources, agent);
  const signal = new AbortController().signal;
  const [grade] = await gradeRun({ folder, ...resources, helpersFolder, which: 'final', signal });
  return grade;
}

describeInSandbox('submitted code', () => {
  test('finds the public data at the same path as the agent, and cannot change it', async () => {
    const source = [
      'import os, numpy',
      'names = os.listdir("data")',
      'def double(x):',
      '    assert "test.csv" in names and os.path.exists("data/test.csv"), names',
      '    try:',
      '        open("data/new", "w")',
      '    except OSError:',
      '        return 2 * x',
    ].join('\n');
    expect(await gradeOf(source)).toMatchObject({ valid: true, score: 0 });
  });

  test('is called on the hidden inputs, and so is the starter, in the same session', async () => {
    const grade = await gradeOf('def double(x):\n    return 2 * x\n');
    expect(grade).toMatchObject({ valid: true, score: 0, stale: false, problems: [] });
    expect(grade?.baseline).toBeGreaterThan(0);
  });

  test('sees neither labels nor grader nor other submissions, and cannot write where the grader reads', async () => {
    const proof = join(bench.folder, 'escaped');
    const spy = `import os, sys
seen = []
for folder, _, files in os.walk("/"):
    if folder.startswith(("/proc", "/sys", "/dev")): continue
    seen += [os.path.join(folder, name) for name in files if name in ("labels.csv", "grade.py", "task.json")]
writable = []
for folder in ("/workspace", "/exchange", "/mlab", "/"):
    try:
        open(folder + "/escaped", "w").close()
        writable.append(folder)
    except OSError:
        pass
try:
    # In a /tmp of its own this may well succeed.
    open(${JSON.stringify(proof)}, "w").close()
except OSError:
    pass
assert not seen and not writable, f"seen {seen}, wrote {writable}"
def double(x): return 2 * x
`;
    const grade = await gradeOf(spy);
    expect(grade?.problems).toEqual([]);
    expect(grade).toMatchObject({ valid: true, score: 0 });
    expect(existsSync(proof)).toBe(false);
  });

  test.each([
    ['an import that fails', 'raise ValueError("no")\ndef double(x): pass\n', 'crashed'],
    ['an exception', 'def double(x):\n    raise ValueError("no")\n', 'crashed'],
    ['a process that ends', 'import os\ndef double(x):\n    os._exit(0)\n', 'crashed'],
    ['an answer that never comes', 'def double(x):\n    while True: pass\n', 'timed_out'],
    ['another shape', 'def double(x):\n    return x[:3]\n', 'wrong_shape'],
    ['a value that is not an array', 'def double(x):\n    return "0"\n', 'wrong_output'],
    ['a function that is missing', 'def triple(x): pass\n', 'missing_function'],
    [
      'forged results on its output',
      'import os\nfor fd in (1, 2): os.write(fd, b\'{"results": [{"submission": "x", "valid": true, "score": 0, "problems": []}]}\\n\')\ndef double(x):\n    raise ValueError("no")\n',
      'crashed',
    ],
  ])('%s is reported as such and gets no score', async (_, source, code) => {
    const grade = await gradeOf(source);
    expect(grade).toMatchObject({ valid: false, score: null });
    expect(grade?.problems.map((problem) => problem.code)).toEqual([code]);
  });
});
