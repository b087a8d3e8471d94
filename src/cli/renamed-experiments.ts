import type { Report } from '../schema/index.ts';
import type { Experiment } from '../store/index.ts';
import { counted } from './table.ts';

/** Says once for each experiment whose folder was copied or renamed what it was planned as. */
export function renamedTexts(experiments: readonly { name: string; plannedName: string }[]): string[] {
  return experiments.flatMap(({ name, plannedName }) =>
    name === plannedName ? [] : [`${name} was planned as ${plannedName}.`],
  );
}

/**
 * Says which runs of a report are copies of others, and which experiments were renamed.
 * @param areCompared whether experiments are compared, with all their runs
 */
export function identityTexts(
  { copies = [] }: Report,
  experiments: readonly Experiment[],
  areCompared: boolean,
): string[] {
  const explained = new Set<string>(copies.map(({ experiment }) => experiment));
  const renamed = experiments
    .filter(({ name }) => !explained.has(name))
    .map(({ name, plan }) => ({ name, plannedName: plan.name }));
  return [...copiesTexts(copies, areCompared), ...renamedTexts(renamed)];
}

function copiesTexts(copies: NonNullable<Report['copies']>, areCompared: boolean): string[] {
  return copies.map(({ experiment, of, runs }) => {
    const isOne = runs.length === 1;
    const what = experiment === of ? `Two folders are called ${of}` : `${experiment} is a copy of ${of}`;
    const once = `${counted(runs.length, 'run')} ${isOne ? 'is' : 'are'} in both and counted once`;
    const itself = isOne ? 'it with itself' : 'them with themselves';
    return `${what}: ${once}${areCompared ? `, but the comparison compares ${itself}` : ''}.`;
  });
}
