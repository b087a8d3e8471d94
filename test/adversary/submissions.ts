import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TaskResources } from '../../src/runs/index.ts';
import type { Grade } from '../../src/schema/index.ts';
import { fixtureTasks } from '../fixtures/fixture-task.ts';
import { type Attack, type AttackFields, attack, held, type Verdict, worked } from './attack.ts';
import type { Row } from './rows.ts';
import type { Stage } from './stage.ts';

/** A worthless submission that tries to get a better score, or to be left out of the rate. */
export interface Trick {
  title: string;
  /** Python that writes it; runs in the workspace of a run. */
  source: string;
  /** It leaves no file behind on purpose; in others, a missing file is a mistake in the trick. */
  absent?: boolean;
}

/** The fixture task with other values of task.yaml. */
export function taskYaml(change: (yaml: string) => string): string {
  return change(readFileSync(join(fixtureTasks, 'sums/task.yaml'), 'utf8'));
}

export interface Contest extends Partial<AttackFields> {
  tricks: readonly Trick[];
  /** Files of the task in this row. */
  task: (row: Row) => Record<string, string>;
  /** Writes a perfect submission, whose error is 0. */
  good: string;
  /** The file for the tricks' text; default: the text is Python that writes the submission. */
  file?: string;
  /** The smallest error that a trick's content deserves. */
  deserves: number;
}

/**
 * One run in which each trick is a step, between two perfect submissions, and one grading of them all. A trick worked
 * if it gets a better score than it deserves or no grade, or costs another one its own.
 */
export function submissionAttacks({ tricks, task, good, file, deserves, ...fields }: Contest): Attack[] {
  const gradings = new Map<Row, Promise<Graded>>();
  return tricks.map(({ title, absent }, index) =>
    attack({
      ...fields,
      title,
      run: async (stage) => {
        const grading =
          gradings.get(stage.row) ??
          gradeAll(
            stage,
            await stage.task(task(stage.row)),
            [good, ...tricks.map(({ source }) => source), good],
            file,
          );
        gradings.set(stage.row, grading);
        const { grades, failure } = await grading;
        if (failure !== null) return worked(failure);
        const grade = grades[index + 1];
        const missing = grade?.problems.some(({ code }) => code === 'missing_file');
        if (missing && !absent) throw new Error('the trick wrote no submission');
        return verdictOn(grade, deserves);
      },
    }),
  );
}

interface Graded {
  grades: Grade[];
  /** How the tricks broke the grading of all. */
  failure: string | null;
}

export async function gradeAll(
  stage: Stage,
  resources: TaskResources,
  sources: readonly string[],
  file: string | undefined,
): Promise<Graded> {
  const steps = sources.flatMap((content, index) => [
    { name: 'Write File', args: { file_name: file ?? 'write.py', content } },
    file === undefined ? `rm -rf submission.csv; python3 write.py; true # ${index}` : 'true',
  ]);
  const ran = await stage.run(steps, resources);
  if (ran.record.end?.reason !== 'agent_stopped')
    return { grades: [], failure: `the run ended: ${ran.record.end?.reason}: ${ran.record.end?.message}` };
  const grades = await stage.grade(ran, 'all').catch((error: unknown) => {
    // They did not cause the end of the attack's own time.
    stage.signal.throwIfAborted();
    return String(error);
  });
  if (typeof grades === 'string') return { grades: [], failure: `nothing was graded: ${grades}` };
  // Step 0 is the starter; of each pair of steps, the second one submits.
  const submitted = grades.filter(({ step }) => step > 0 && step % 2 === 0);
  const spoilt = [submitted[0], submitted.at(-1)].find((grade) => grade?.score !== 0);
  const failure =
    spoilt === undefined ? null : `a perfect one beside it got ${JSON.stringify(spoilt.problems)}`;
  return { grades: submitted, failure };
}

function verdictOn(grade: Grade | undefined, deserves: number): Verdict {
  if (grade === undefined) return worked('it was not graded');
  const [problem] = grade.problems;
  if (!grade.valid) return held(`${problem?.code}: ${problem?.message}`);
  if (grade.score === null || !(grade.score >= deserves)) return worked(`a score of ${grade.score}`);
  return held(`a score of ${grade.score}, which it deserves`);
}
