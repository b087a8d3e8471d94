import type { StepReading } from '../../schema/index.ts';
import type { ObservedNumbers, OutputNumbers } from './measurements.ts';
import type { MetricNumber } from './metric-words.ts';
import type { RunStory } from './run-story.ts';
import { ran } from './steps.ts';

/**
 * One metric, followed through the run: of those that scripts printed by name, not on training data, the one that most
 * executions printed; among equals one on validation data, then the one printed first. Of each execution its last value.
 */
export function validationReadings({ steps }: RunStory, observed: ObservedNumbers): StepReading[] {
  const executions = steps.filter((step) => ran(step) && !step.byModel);
  const outputs = executions.map((step) => ({ step, values: lastValues(observed.of(step)) }));
  const names = new Map<string, { count: number; isValidation: boolean }>();
  for (const { values } of outputs) {
    for (const [name, { subject }] of values) {
      const count = (names.get(name)?.count ?? 0) + 1;
      names.set(name, { count, isValidation: subject === 'validation' });
    }
  }
  const [best] = [...names].sort(
    ([, left], [, right]) =>
      right.count - left.count || Number(right.isValidation) - Number(left.isValidation),
  );
  if (best === undefined) return [];
  return outputs.flatMap(({ step, values }) => {
    const reading = values.get(best[0]);
    if (reading === undefined) return [];
    const printed = reading.number.value;
    return [{ step: step.step, printed, value: reading.direction === 'minimize' ? -printed : printed }];
  });
}

/** By metric and what it was measured on; what a script took is no measure of its result. */
function lastValues({ readings: all }: OutputNumbers): Map<string, MetricNumber> {
  const readings = all.filter(
    ({ subject, direction, number }) => subject !== 'train' && direction !== null && number.suffix !== 'time',
  );
  return new Map(readings.map((reading) => [`${reading.subject ?? ''} ${reading.metric}`, reading]));
}
