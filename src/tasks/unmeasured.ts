import { isJsonObject } from '../lib/json-values.ts';

/** Stands for figures that are not measured yet, while they are measured. */
const placeholders = { mean: 1, spread: 0, seeds: 1, seconds: 0 };
const machine = 'not measured';

/** A parsed task.yaml, with placeholders for the figures that it lacks. */
export function withPlaceholders(document: unknown): unknown {
  if (!isJsonObject(document)) return document;
  const { baseline, reference, sample } = document;
  return {
    ...document,
    ...(isJsonObject(baseline) ? { baseline: { ...placeholders, machine, ...baseline } } : {}),
    ...(isJsonObject(reference) ? { reference: { ...placeholders, ...reference } } : {}),
    ...(isJsonObject(sample)
      ? { sample: { baseline: placeholders, reference: placeholders, ...sample } }
      : {}),
  };
}

/**
 * What to say if this field of task.yaml is missing because it is measured; null if it is not such a field.
 * @param task the task's folder, as commands take it
 */
export function explainUnmeasured(
  path: readonly PropertyKey[],
  task: string,
): { path: PropertyKey[]; message: string; fix: string } | null {
  const whole = path.map(String).join('.');
  const own = /^(baseline|reference)\.(?:mean|spread|seeds|seconds|machine)$/.exec(whole);
  const ofSample = /^sample\.(baseline|reference)$/.exec(whole);
  const part = own?.[1] ?? ofSample?.[1];
  if (part === undefined) return null;
  const flag = part === 'reference' ? ' --reference' : '';
  const fix =
    own === null
      ? `run mlab tasks baseline ${task} --sample${flag}, and add the lines that it prints`
      : `run mlab tasks baseline ${task}${flag} --write`;
  return { path: own === null ? [...path] : [part], message: 'not measured yet', fix };
}
