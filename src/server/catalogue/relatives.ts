import type { RelatedRun, RunPage } from '../../schema/index.ts';
import type { BegunBranch, KnownExperiment } from './known-experiment.ts';

/** The parent of this run (a fork or a branch), its forks, by the names of their experiments, and its branches. */
export function relativesOf(
  experiments: readonly KnownExperiment[],
  experiment: KnownExperiment,
  runId: string,
): { parent: RelatedRun | null; forks: RelatedRun[]; begun: RunPage['begun'] } {
  const { name } = experiment.place;
  const begun = experiment.branchesOf(runId).map(begunBranch);
  const parent = experiment.lineOf(runId)?.parent ?? null;
  const forks = experiments.flatMap(({ place, runs }) =>
    runs.flatMap(({ run, parent: from }) =>
      from?.experiment === name && from.run === runId
        ? [{ experiment: place.id, name: place.name, run, step: from.step }]
        : [],
    ),
  );
  if (parent === null) return { parent: null, forks, begun };
  const home = experiments.find(
    (one) => one.place.name === parent.experiment && one.lineOf(parent.run) !== null,
  );
  return {
    parent: {
      experiment: home?.place.id ?? null,
      name: parent.experiment,
      run: parent.run,
      step: parent.step,
    },
    forks,
    begun,
  };
}

function begunBranch({ line, actor, parent, shared, folder }: BegunBranch): RunPage['begun'][number] {
  const { run, status, end } = line;
  const grade = status === 'finished' ? folder.readGrades().grades.findLast(({ final }) => final) : undefined;
  const steps = Math.max(0, line.steps - shared.steps);
  return {
    ...{ run, actor, status, end, steps, score: grade?.score ?? null },
    origin: { run: parent.run, step: parent.step },
  };
}
