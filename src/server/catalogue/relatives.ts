import type { RelatedRun } from '../../schema/index.ts';
import type { KnownExperiment } from './known-experiment.ts';

/** The run that this one is forked from, and its own forks, by the names of their experiments. */
export function relativesOf(
  experiments: readonly KnownExperiment[],
  experiment: KnownExperiment,
  runId: string,
): { parent: RelatedRun | null; forks: RelatedRun[] } {
  const { name } = experiment.place;
  const parent = experiment.runs.find(({ run }) => run === runId)?.parent ?? null;
  const home = experiments.find(({ place }) => place.name === parent?.experiment)?.place.id ?? null;
  const forks = experiments.flatMap(({ place, runs }) =>
    runs.flatMap(({ run, parent: from }) =>
      from?.experiment === name && from.run === runId
        ? [{ experiment: place.id, name: place.name, run, step: from.step }]
        : [],
    ),
  );
  if (parent === null) return { parent: null, forks };
  return { parent: { experiment: home, name: parent.experiment, run: parent.run, step: parent.step }, forks };
}
