import type { ScoringReference, StepReading } from '../../schema/index.ts';
import type { ObservedNumbers, OutputNumbers } from './measurements.ts';
import { type MetricNumber, metricsNamedIn } from './metric-words.ts';
import type { RunTranscript } from './run-transcript.ts';
import { ran } from './steps.ts';

/** Generic names that do not say which direction is better. */
const withoutDirection = new Set(['score', 'performance']);

/**
 * The agent's own validation metric, followed through the run: a metric that scripts printed by name, with a word for
 * validation or test data; or, without such a word, one that the task's text names. A loss without such a word is that
 * of training. The task's own metric has priority, then the one that most executions printed, then one on validation
 * data, then the one printed first. Each execution gives its last value.
 */
export function validationReadings(
  { steps, problem }: Pick<RunTranscript, 'steps' | 'problem'>,
  observed: ObservedNumbers,
  scoringReference: ScoringReference | null,
): StepReading[] {
  const direction = scoringReference?.direction ?? null;
  const named = metricsNamedIn(problem);
  // Old traces have no text of the task: then only its direction must match.
  const isNamed = ({ metric }: MetricNumber) => (problem === '' ? direction !== null : named.has(metric));
  const isOfTask = (reading: MetricNumber) =>
    isNamed(reading) && (direction === null || reading.direction === direction);
  const isOwn = (reading: MetricNumber) => {
    if (reading.subject === 'train' || reading.direction === null || reading.number.suffix === 'time')
      return false;
    if (withoutDirection.has(reading.metric) && reading.direction !== direction) return false;
    return reading.subject !== null || (reading.metric !== 'loss' && isOfTask(reading));
  };
  const executions = steps.filter((step) => ran(step) && !step.byModel);
  const outputs = executions.map((step) => ({ step, values: lastValues(observed.of(step), isOwn) }));
  const best = bestOf(
    outputs.map(({ values }) => values),
    isOfTask,
  );
  if (best === null) return [];
  return outputs.flatMap(({ step, values }) => {
    const reading = values.get(best);
    if (reading === undefined) return [];
    const printed = reading.number.value;
    const value = reading.direction === 'minimize' ? -printed : printed;
    return [{ step: step.step, metric: best, printed, value }];
  });
}

/** The name of the metric to follow; null if none was printed. */
function bestOf(
  outputs: readonly ReadonlyMap<string, MetricNumber>[],
  isOfTask: (reading: MetricNumber) => boolean,
): string | null {
  const found = new Map<string, { ofTask: number; count: number; onValidation: number }>();
  for (const values of outputs) {
    for (const [name, reading] of values) {
      const count = (found.get(name)?.count ?? 0) + 1;
      const onValidation = Number(reading.subject === 'validation');
      found.set(name, { ofTask: Number(isOfTask(reading)), count, onValidation });
    }
  }
  const [best] = [...found].sort(
    ([, one], [, other]) =>
      other.ofTask - one.ofTask || other.count - one.count || other.onValidation - one.onValidation,
  );
  return best?.[0] ?? null;
}

/** By data and metric: `validation loss`. */
function lastValues(
  { readings }: OutputNumbers,
  isOwn: (reading: MetricNumber) => boolean,
): Map<string, MetricNumber> {
  const nameOf = ({ subject, metric }: MetricNumber) => (subject === null ? metric : `${subject} ${metric}`);
  return new Map(readings.filter(isOwn).map((reading) => [nameOf(reading), reading]));
}
