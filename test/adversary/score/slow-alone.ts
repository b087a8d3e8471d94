import { performance } from 'node:perf_hooks';
import { type Attack, attack, held, worked } from '../attack.ts';
import { codeTask, good, gradingSecondsIn } from '../code-task.ts';
import type { Stage } from '../stage.ts';
import type { Trick } from '../submissions.ts';
import { slowTricks } from './slow-code.ts';

/** The time that a start of the grader may take in addition to its limit and to the time for a perfect submission. */
const graceSeconds = 5;

/** A grader that trusts answers: it keeps them, counts to them, prints them and uses them unchecked. */
const trusting = `import os, sys
sys.path.insert(0, os.environ["MLAB_HELPERS"])
from mlab_task.grading import grade, read_arguments
from mlab_task.submission_workers import running_worker
arguments = read_arguments()

def error(submission):
    total = 0.0
    with running_worker(arguments.exchange, submission.name, import_seconds=3) as worker:
        for x in range(4):
            answer = worker.call_json("double", {"x": x}, seconds=2, most_bytes=200_000_000)[0]
            if isinstance(answer, dict):
                for _ in range(answer.get("loops", 0)): pass
                for _ in range(answer.get("lines", 0)): print("x" * 1000)
                held = [bytes(1_000_000) for _ in range(answer.get("megabytes", 0))]
                if answer.get("crash"): os.abort()
                answer = answer["value"]
            total += abs(answer - 2 * x)
    return float(total)

grade(error, arguments)
`;

const answering = (title: string, answer: string): Trick => ({
  title,
  source: `def double(x):\n    return ${answer}\n`,
});

const bringingDown: Trick[] = [
  answering('has the grader fail on its answer', '"no number"'),
  answering('has the grader crash', '{"value": 0, "crash": True}'),
  answering('has the grader take all memory', '{"value": 0, "megabytes": 10_000}'),
  answering('has the grader take all memory for an answer', '"x" * 150_000_000'),
  answering('has the grader count without end', '{"value": 0, "loops": 10**12}'),
  answering('has the grader print without end', '{"value": 0, "lines": 10**9}'),
];

/** A perfect submission alone, for comparison: its time is that of the machine. */
const perfect = new Map<string, Promise<number>>();

async function secondsOf(stage: Stage, source: string, changes: Record<string, string>): Promise<number> {
  const resources = await stage.task({ ...codeTask(stage.row), ...changes });
  const ran = await stage.run(
    [{ name: 'Write File', args: { file_name: 'train.py', content: source } }],
    resources,
  );
  const start = performance.now();
  await stage.grade(ran);
  return (performance.now() - start) / 1000;
}

/**
 * In addition to the time that a perfect submission takes with the same grader, it may take its limit and little more.
 * @param limits the number of its task's grading time limits that it may take
 */
function timed(kind: string, { title, source }: Trick, grader: string | null, limits: number): Attack {
  return attack({
    title: `${title} (${kind})`,
    long: true,
    seconds: 120,
    run: async (stage) => {
      const changes: Record<string, string> = grader === null ? {} : { 'hidden/grade.py': grader };
      const key = `${stage.row.id} ${kind}`;
      const usual = perfect.get(key) ?? secondsOf(stage, good, changes);
      perfect.set(key, usual);
      const own = await usual;
      const seconds = await secondsOf(stage, source, changes);
      const most = limits * gradingSecondsIn(stage.row) + graceSeconds;
      const said = `${seconds.toFixed(1)} s, ${own.toFixed(1)} s of them as a perfect one; at most ${most} s more`;
      return seconds - own <= most ? held(said) : worked(said);
    },
  });
}

export default [
  ...slowTricks.map((trick) => timed('its own time alone', trick, null, 1)),
  ...bringingDown.map((trick) => timed('a grader that trusts answers', trick, trusting, 2)),
];
