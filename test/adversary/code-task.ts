import type { Row } from './rows.ts';
import { taskYaml } from './submissions.ts';

/** The grader calls the submitted `double` on 0, 1, 2, 3, each call for at most 2 s; the score is the error. */
const grader = `import os, sys
sys.path.insert(0, os.environ["MLAB_HELPERS"])
from mlab_task.grading import grade, read_arguments
from mlab_task.submission_workers import running_worker
arguments = read_arguments()

def error(submission):
    with running_worker(arguments.exchange, submission.name, import_seconds=3) as worker:
        answers = [worker.call_json("double", {"x": x}, seconds=2, most_bytes=1_000)[0] for x in range(4)]
    return float(sum(abs(answer - 2 * x) for x, answer in enumerate(answers)))

grade(error, arguments)
`;

const gradingSeconds = 5;
export const good = 'def double(x):\n    return 2 * x\n';
const [head = ''] = taskYaml((yaml) => yaml).split('  files:');

/** The task's limit: a container may take seconds to start on a busy machine. */
export function gradingSecondsIn({ driver }: Pick<Row, 'driver'>): number {
  return driver === 'docker' ? 30 : gradingSeconds;
}

export const codeTask = (row: Pick<Row, 'driver'>) => ({
  'task.yaml': `${head}  files:
    - { format: python, path: train.py, defines: [double] }
grading: { runs_submission: true, seconds: ${gradingSecondsIn(row)}, memory_mb: 200 }
`,
  'hidden/grade.py': grader,
  'env/train.py': 'def double(x):\n    return x + 1\n',
  'hidden/solution/train.py': good,
});
