import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import {
  examplePlan,
  exampleRecord,
  exampleSpec,
  sessionStarted,
} from '../../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { createExperiment, decisionName, type Experiment } from '../../store/index.ts';
import { createContext } from '../context.ts';
import { conclude } from '../execute-plan.ts';
import { decide } from './decide.ts';
import { runsLs } from './runs-ls.ts';

const continues = 'the same mlab run command';
const args = '{"file_name":"train.py"}';
let folder: string;
let experiment: Experiment;

/** A run that waits for a decision on its step 4, and that no process executes. */
beforeEach(async () => {
  folder = temporaryFolder();
  const spec = { ...exampleSpec('waiting'), approve_later: true };
  experiment = createExperiment(join(folder, 'first'), { ...examplePlan(), runs: [spec] });
  const run = experiment.runFolder(spec.id);
  mkdirSync(run.folder, { recursive: true });
  const snapshot = run.objects.putText('{}');
  await using trace = run.openTrace();
  trace.append(sessionStarted(snapshot));
  trace.append({ kind: 'action_proposed', step: 4, action: 'Edit File', args: { text: args } });
  const proposal = { branch: 'main' as const, step: 4, action: 'Edit File' };
  const waited = { ...proposal, decision: decisionName({ ...proposal, args }) };
  run.writeRecordSync(exampleRecord({ spec, status: 'waiting', waits_for: [waited] }));
});

function contextHere() {
  return { ...createContext({ dir: folder }, {}, '1', new AbortController().signal), log: () => {} };
}

async function said(): Promise<{ listed: string; shown: string; ended: string }> {
  const context = contextHere();
  const [spec] = experiment.plan.runs;
  if (spec === undefined) throw new Error('the plan is empty');
  const record = experiment.runFolder(spec.id).readRecord();
  const result = { spec, record, problem: 'waits for a decision on step 4 (Edit File)', grades: [] };
  return {
    listed: (await runsLs.run(context, ['first'], {})).text,
    shown: (await decide.run(context, ['first/waiting'], {})).text,
    ended: (await conclude(context, experiment, { result: [result], cancelled: null })).text,
  };
}

test('a run that waits is shown as waiting until a decision is there', async () => {
  const { listed, shown, ended } = await said();
  expect(listed).toContain('waits for a decision on step 4 (Edit File)');
  expect(shown).toMatch(/^Step 4: the agent wants to Edit File/);
  expect(shown).not.toContain(continues);
  expect(ended).toContain('Decide, for example: ');
});

test('once somebody has decided, everything says so, and that the same command continues the run', async () => {
  const { text } = await decide.run(contextHere(), ['first/waiting', 'allow'], {});
  expect(text.toLowerCase()).toContain(continues);
  const { listed, shown, ended } = await said();
  expect(listed).toContain(`decided on step 4 (Edit File); ${continues} continues it`);
  expect(shown).toMatch(/has decided: allow\. The same mlab run command, or its job, continues the run\./);
  expect(ended).not.toContain('Decide, for example: ');
  expect(ended).toContain('Run the same command again to continue.');
});

test('an action or a reason that the verdict has no use for is refused, and nothing is decided', async () => {
  const instead = 'Read File {"file_name": "train.py"}';
  const decided = (verdict: string[], options: object) =>
    decide.run(contextHere(), ['first/waiting', ...verdict], options);
  await expect(decided(['allow'], { instead })).rejects.toThrow('--instead needs replace, not allow.');
  await expect(decided(['deny'], { instead })).rejects.toThrow('--instead needs replace, not deny.');
  await expect(decided([], { instead })).rejects.toThrow('--instead needs replace.');
  await expect(decided([], { reason: 'Why not?' })).rejects.toThrow('--reason needs a verdict.');
  expect((await said()).listed).toContain('waits for a decision on step 4 (Edit File)');
});
