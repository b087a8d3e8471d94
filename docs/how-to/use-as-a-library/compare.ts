import { runExperiment } from 'mlagentbench';

/** Runs an agent with several seeds; returns the score of each run, and the actions that led to it. */
export async function compare(agent: string, seeds: number, dir: string): Promise<string[]> {
  const experiment = await runExperiment(
    { name: 'seeds', tasks: ['digits'], agents: [agent], seeds, limits: { wall_seconds: 60 } },
    { dir, sample: true, onProgress: (line) => console.error(line) },
  );
  const { runs } = await experiment.runs();
  return runs.map(({ run, score }) => {
    const actions = [...experiment.steps(run)].map(({ action }) => action);
    return `${run}: ${score ?? 'no score'} after ${actions.join(', ')}`;
  });
}
