import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  exampleGrade,
  examplePlan,
  exampleRecord,
  exampleSpec,
  modelCall,
  sessionStarted,
} from '../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../test/fixtures/store/folders.ts';
import { ModelRegistry } from '../models/index.ts';
import type { ObjectId, RunParent } from '../schema/index.ts';
import { createExperiment, type RunFolder } from '../store/index.ts';
import { archiveAttempt } from './archived-attempts.ts';
import { experimentModels, takeSpending } from './experiment-models.ts';

const registry = new ModelRegistry({ variables: {}, folder: '/' });
const snapshot = 'a'.repeat(64) as ObjectId;
const usage = modelCall(1).usage;
const limited = { spend: { money: 100 } };

/** A run with a session for each list of costs, of a thousand tokens each. */
async function write(run: RunFolder, sessions: { costs: number[]; parent?: RunParent }[]): Promise<void> {
  using _lock = run.lock();
  await using trace = run.openTrace();
  for (const [index, { costs, parent }] of sessions.entries()) {
    trace.append({ ...sessionStarted(snapshot, index + 1), ...(parent === undefined ? {} : { parent }) });
    for (const cost of costs) {
      const asked = { cost, usage: { ...usage, input: 900, output: 100 } };
      trace.append(modelCall(1, cost === 1 ? { ...asked, answer: null } : asked));
    }
  }
  run.writeRecordSync(exampleRecord({ status: 'failed' }));
}

test('the limit of an experiment counts the usage of its runs, their archived attempts and their gradings', async () => {
  using folder = temporaryFolder();
  const plan = { ...examplePlan(), ...limited };
  const experiment = createExperiment(join(folder.path, 'first'), plan);
  const run = experiment.runFolder('digits-baseline-0');
  await write(run, [{ costs: [1, 2] }, { costs: [4] }]);
  const spent = () => experimentModels(plan, { registry, experiment })?.shared?.spent;
  expect(spent()).toEqual({ tokens: 3000, money: 7 });
  run.appendGrade({
    ...exampleGrade(snapshot),
    details: { tool_model: { calls: 1, tokens: 500, money: 8, unpriced: 0 } },
  });
  await archiveAttempt(run);
  expect(spent()).toEqual({ tokens: 3500, money: 15 });
  await write(run, [{ costs: [16] }]);
  expect(spent()).toEqual({ tokens: 4500, money: 31 });
});

test('a fork counts against the limit of its experiment only from its first own step', async () => {
  using folder = temporaryFolder();
  const parent: RunParent = { experiment: examplePlan().name, run: exampleSpec().id, step: 3 };
  const plan = { ...examplePlan(), ...limited, runs: [{ ...exampleSpec(), parent }] };
  const experiment = createExperiment(join(folder.path, 'fork'), plan);
  const grandparent = { ...parent, step: 2 };
  const inherited = [{ costs: [1] }, { costs: [2], parent: grandparent }];
  const own = [{ costs: [4], parent }, { costs: [8] }];
  await write(experiment.runFolder('digits-baseline-0'), [...inherited, ...own]);
  const models = experimentModels(plan, { registry, experiment });
  expect(models?.shared?.spent).toEqual({ tokens: 2000, money: 12 });
});

test('one command at a time executes runs of an experiment whose spending is limited', async () => {
  using folder = temporaryFolder();
  const experiment = createExperiment(join(folder.path, 'first'), { ...examplePlan(), ...limited });
  const services = { registry, experiment, signal: new AbortController().signal };
  {
    using _first = await takeSpending(limited, services);
    await expect(takeSpending(limited, services)).rejects.toMatchObject({ code: 'spending_elsewhere' });
    expect(await takeSpending({}, services)).toBeNull();
    expect(await takeSpending(limited, { ...services, registry: undefined })).toBeNull();
  }
  using second = await takeSpending(limited, services);
  expect(second?.epoch).toBe(2);
});
