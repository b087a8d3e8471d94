import { agentByName } from '../../src/agents/index.ts';
import { type ActionDescription, actionDefinitions } from '../../src/environment/index.ts';
import { type Comparison, compareTurns } from './compare-turns.ts';
import { RecordedEnvironment } from './recorded-environment.ts';
import type { RecordedRun } from './recorded-run.ts';

/** Runs the research agent, by the paper's rules, on the replies of a recorded run, and compares its actions. */
export async function replayRecorded(run: RecordedRun): Promise<Comparison> {
  const environment = new RecordedEnvironment(run, recordedActions());
  const options = { profile: 'paper' };
  await agentByName('research').run({ environment, seed: 0, options, reference: null });
  return compareTurns(run.turns, environment.turns);
}

/** Actions that the original did not have. */
const ours = [
  'Run Command',
  'Search Files',
  'Validate Submission',
  'Check Budget',
  'Edit File',
  'Request Help',
];

function recordedActions(): ActionDescription[] {
  return [...actionDefinitions.values()]
    .filter(({ name }) => !ours.includes(name))
    .map(({ name, description, schema }) => ({
      name,
      description,
      arguments: Object.keys(schema.shape).map((argument) => ({ name: argument, description: argument })),
      input_schema: {},
    }));
}
