import { type Direction, improvement, isSuccess } from './competence.ts';
import { type Interval, mean, sampleStandardDeviation, wilsonInterval } from './summary.ts';

/** What a report knows of one run. */
export interface RunOutcome {
  task: string;
  agent: string;
  seed: number;
  /** Why it ended; null while it has not. */
  end: string | null;
  /** The final grade; null while there is none. */
  grade: {
    valid: boolean;
    score: number | null;
    baseline: number;
    direction: Direction;
    threshold: number;
    stale: boolean;
  } | null;
  steps: number;
  seconds: number;
  /** Tokens of language models, read and written together; null where none was asked. */
  tokens: number | null;
  /** In US dollars; null where no model was asked, or the price of one is not known. */
  money: number | null;
  /** Why its result is not comparable. */
  marks: readonly string[];
}

/** Results of one agent on one task. */
export interface Cell {
  task: string;
  agent: string;
  /** Runs that count: those that ended by themselves or by the agent's fault. */
  runs: number;
  /** Runs that died of the infrastructure: told apart, and in no rate. */
  infrastructure_failures: number;
  /** Runs that have not ended or not been graded. */
  unfinished: number;
  successes: number;
  success_rate: number | null;
  /** 95 %, Wilson. */
  success_interval: Interval;
  valid: number;
  stale: number;
  /** Over the valid final submissions. */
  score_mean: number | null;
  score_spread: number | null;
  baseline_mean: number | null;
  /** Fractions, over the valid final submissions. */
  improvement_mean: number | null;
  improvement_low: number | null;
  improvement_high: number | null;
  steps_mean: number | null;
  seconds_mean: number | null;
  tokens_mean: number | null;
  /** In US dollars. */
  money_mean: number | null;
  marks: string[];
}

/** Improvement of a run's final submission over its baseline; null where there is none. */
export function improvementOf({ grade }: Pick<RunOutcome, 'grade'>): number | null {
  if (grade?.score === null || grade?.score === undefined) return null;
  return improvement(grade.score, grade.baseline, grade.direction);
}

/** Whether the run's final submission improved on the baseline beyond the task's threshold. */
export function succeeded(run: Pick<RunOutcome, 'grade'>): boolean {
  return run.grade !== null && isSuccess(improvementOf(run), run.grade.threshold);
}

/** One cell for every pair of task and agent, in the order in which they first appear. */
export function resultCells(runs: readonly RunOutcome[]): Cell[] {
  const groups = Map.groupBy(runs, (run) => JSON.stringify([run.task, run.agent]));
  return [...groups.values()].map(cellOf);
}

function cellOf(all: readonly RunOutcome[]): Cell {
  const [{ task, agent } = { task: '', agent: '' }] = all;
  const broken = all.filter(({ end }) => end === 'infrastructure_error');
  const counted = all.filter(
    ({ end, grade }) => end !== 'infrastructure_error' && end !== null && grade !== null,
  );
  const scores = counted.flatMap(({ grade }) => (grade?.score == null ? [] : [grade.score]));
  const gains = counted.flatMap((run) => improvementOf(run) ?? []);
  const baselines = counted.flatMap(({ grade }) => grade?.baseline ?? []);
  const successes = counted.filter(succeeded).length;
  return {
    task,
    agent,
    runs: counted.length,
    infrastructure_failures: broken.length,
    unfinished: all.length - counted.length - broken.length,
    successes,
    success_rate: counted.length === 0 ? null : successes / counted.length,
    success_interval: wilsonInterval(successes, counted.length),
    valid: counted.filter(({ grade }) => grade?.valid).length,
    stale: counted.filter(({ grade }) => grade?.stale).length,
    score_mean: meanOrNull(scores),
    score_spread: scores.length < 2 ? null : sampleStandardDeviation(scores),
    baseline_mean: meanOrNull(baselines),
    improvement_mean: meanOrNull(gains),
    improvement_low: gains.length === 0 ? null : Math.min(...gains),
    improvement_high: gains.length === 0 ? null : Math.max(...gains),
    steps_mean: meanOrNull(counted.map(({ steps }) => steps)),
    seconds_mean: meanOrNull(counted.map(({ seconds }) => seconds)),
    tokens_mean: meanOrNull(counted.flatMap(({ tokens }) => tokens ?? [])),
    money_mean: meanOrNull(counted.flatMap(({ money }) => money ?? [])),
    marks: [...new Set(all.flatMap(({ marks }) => marks))].sort(),
  };
}

function meanOrNull(values: readonly number[]): number | null {
  return values.length === 0 ? null : mean(values);
}
