import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { examplePlan } from '../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { tooSmallForSearch } from '../agents/index.ts';
import { createExperiment, type Experiment, TraceWriter } from '../store/index.ts';
import { missedSearches } from './missed-searches.ts';

async function experimentWith(decisions: readonly string[]): Promise<Experiment> {
  const plan = examplePlan(decisions.map((_, index) => `digits-automl-${index}`));
  const runs = plan.runs.map((run) => ({
    ...run,
    agent: 'automl',
    limits: { ...run.limits, wall_seconds: 30 },
  }));
  const experiment = createExperiment(join(temporaryFolder(), 'first'), { ...plan, runs });
  for (const [index, decision] of decisions.entries()) {
    const run = experiment.runFolder(`digits-automl-${index}`);
    mkdirSync(run.folder, { recursive: true });
    await using trace = TraceWriter.open(run.tracePath, run.objects);
    trace.append({ kind: 'note', entries: { Decision: { text: decision } } });
  }
  return experiment;
}

test('runs in which automl found its budget too small for a search are counted, with what to do', async () => {
  const experiment = await experimentWith([`I change no number: ${tooSmallForSearch}`, 'I keep it.']);
  const why =
    'automl made no search in 1 of 2 runs: on this machine, its budget of 30 s and 50 steps was too small for one.';
  expect(missedSearches(experiment, { variables: { npm_lifecycle_event: 'start' } })).toBe(
    `\n\n${why} Try npm start -- --wall-seconds 120 --name longer`,
  );
  expect(missedSearches(experiment, { variables: {} })).toContain(
    'Try the same command with --wall-seconds 120 --name longer',
  );
});

test('nothing is said if automl searched', async () => {
  expect(missedSearches(await experimentWith(['I keep it.']), { variables: {} })).toBe('');
});
