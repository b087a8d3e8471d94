import { runExperiment } from 'mlagentbench';

/** Runs an agent with several seeds, and tells for each run the score and the steps that it took to get there. */
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
