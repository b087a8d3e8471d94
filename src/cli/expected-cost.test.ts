import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  examplePlan,
  exampleRecord,
  exampleSpec,
  modelCall,
  sessionStarted,
  stepFinished,
  stepStarted,
} from '../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { roleSettings } from '../models/index.ts';
import { type EndReason, ExperimentName, type Plan, RunId, RunSpec } from '../schema/index.ts';
import { createExperiment, openExperiment, Snapshotter } from '../store/index.ts';
import { createContext } from './context.ts';
import { confirmCost, costText, expectedCost } from './expected-cost.ts';

const model = 'anthropic/claude-sonnet-4-5';

interface Planned {
  task?: string;
  money?: number;
  model?: string;
}

function specOf(
  id: string,
  experiment: string,
  { task = 'digits', money, model: named = model }: Planned = {},
) {
  const spec = exampleSpec(id);
  const limits = { ...spec.limits, ...(money === undefined ? {} : { money }) };
  const roles = roleSettings(named, {});
  return RunSpec.parse({ ...spec, experiment, task, agent: 'tools', model: named, roles, limits });
}

function planOf(name: string, runs: readonly Planned[], changes: Partial<Plan> = {}): Plan {
  const specs = runs.map((planned, index) => specOf(`r-${index}`, name, planned));
  return { ...examplePlan(), name: name as never, runs: specs, ...changes };
}

/** A store with earlier runs that ended with these costs. */
function storeWith(paid: readonly (Planned & { cost: number; unpriced?: number; reason?: EndReason })[]) {
  const dir = temporaryFolder();
  const experiment = createExperiment(join(dir, 'earlier'), planOf('earlier', paid));
  for (const [index, { cost, unpriced = 0, reason = 'final_answer' }] of paid.entries()) {
    const run = experiment.runFolder(`r-${index}`);
    using _lease = run.lock();
    const spec = experiment.plan.runs[index] ?? exampleSpec();
    const spent = { calls: 9, tokens: 1000, money: cost, unpriced };
    run.writeRecordSync(exampleRecord({ spec, status: 'finished', end: { reason, message: '' }, spent }));
  }
  return createContext({ dir }, {}, '1', new AbortController().signal);
}

describe('the expected cost of runs', () => {
  test('is the mean of earlier runs, of the same task if there are any', () => {
    const context = storeWith([
      { cost: 1 },
      { cost: 2 },
      { cost: 9 },
      { cost: 100, unpriced: 3 },
      { cost: 40, task: 'house-price' },
      { cost: 70, model: 'openai/gpt-5' },
    ]);
    const cost = expectedCost(context, planOf('new', [{}, { task: 'house-price' }, { task: 'imdb' }]));
    expect(cost).toMatchObject({ runs: 3, dollars: 4 + 40 + 13, learned_from: 4, unknown: 0 });
    expect(cost && costText(cost)).toMatch(/about \$57\.00 for 3 runs, from 4 earlier runs/);
  });

  test('counts an earlier run once, however often the folder of its experiment was copied', () => {
    const context = storeWith([{ cost: 1 }, { cost: 9 }]);
    const { experiments } = context.folders;
    const copy = (name: string) =>
      cpSync(join(experiments, 'earlier'), join(experiments, name), { recursive: true });
    copy('copy');
    copy('other-copy');
    expect(expectedCost(context, planOf('new', [{}]))).toMatchObject({ dollars: 5, learned_from: 2 });
  });

  test('of a fork is without the steps that it takes over', async () => {
    const context = storeWith([{ cost: 5 }]);
    const source = openExperiment(join(context.folders.experiments, 'earlier')).runFolder('r-0');
    const { id } = await new Snapshotter(source.objects, temporaryFolder()).take();
    {
      await using trace = source.openTrace();
      trace.append(sessionStarted(id));
      for (const step of [1, 2]) {
        trace.append(modelCall(step, { cost: 2 }));
        trace.append(stepStarted(step));
        trace.append(stepFinished(step, id));
      }
    }
    const parent = { experiment: ExperimentName.parse('earlier'), run: RunId.parse('r-0') };
    const plan = planOf('forks', [{}, {}]);
    const runs = plan.runs.map((run, step) => ({ ...run, parent: { ...parent, step } }));
    expect(expectedCost(context, { ...plan, runs })).toMatchObject({ runs: 2, dollars: 5 + 3 });
  });

  test('is at most their limits, the only known bound for new agents and models', () => {
    const context = storeWith([{ cost: 5 }]);
    expect(expectedCost(context, planOf('new', [{ money: 3 }, {}]))?.dollars).toBe(8);
    const unknown = [{ model: 'openai/gpt-5', money: 4 }, { model: 'openai/gpt-5' }];
    expect(expectedCost(context, planOf('new', unknown))).toMatchObject({ dollars: 4, unknown: 1, runs: 2 });
    const limited = planOf('new', unknown, { spend: { money: 6 } });
    expect(expectedCost(context, limited)).toMatchObject({ dollars: 6, capped_at: 6, unknown: 1 });
  });

  test('leaves out earlier runs that cost nothing, and those that were cut off by their own limit', () => {
    const context = storeWith([
      { cost: 5 },
      { cost: 0 },
      { cost: 0.1, money: 0.1, reason: 'money_limit' },
      { cost: 0.2, reason: 'agent_error' },
    ]);
    expect(expectedCost(context, planOf('new', [{}]))).toMatchObject({ dollars: 5, learned_from: 1 });
    const alike = expectedCost(context, planOf('new', [{ money: 0.1 }]));
    expect(alike).toMatchObject({ dollars: 0.1, learned_from: 2 });
  });

  test('counts what an earlier run cost up to the limit of the new one', () => {
    const context = storeWith([{ cost: 1 }, { cost: 9 }]);
    expect(expectedCost(context, planOf('new', [{ money: 3 }]))?.dollars).toBe((1 + 3) / 2);
  });

  test('is the remainder for runs that continue', () => {
    const context = storeWith([{ cost: 5 }]);
    const plan = planOf('half', [{}], { spend: { money: 3 } });
    const run = createExperiment(join(context.folders.experiments, 'half'), plan).runFolder('r-0');
    const spent = { calls: 1, tokens: 100, money: 2, unpriced: 0 };
    const end = { reason: 'infrastructure_error', message: '' } as const;
    run.writeRecordSync(exampleRecord({ spec: specOf('r-0', 'half'), status: 'failed', end, spent }));
    expect(expectedCost(context, plan)).toMatchObject({ learned: { runs: 1, dollars: 3 } });
    expect(expectedCost(context, plan, true)).toMatchObject({ learned: { runs: 1, dollars: 5 } });
  });

  test('separates estimates from earlier runs and mere limits', () => {
    const context = storeWith([{ cost: 5 }]);
    const runs = [{}, { model: 'openai/gpt-5', money: 4 }, { model: 'openai/gpt-5-mini' }];
    const open = expectedCost(context, planOf('new', runs));
    expect(open).toMatchObject({ learned: { runs: 1, dollars: 5 }, limited: { runs: 1, dollars: 4 } });
    const text = open && costText(open);
    expect(text).toContain(
      'about $5.00 for 1 run, from 1 earlier run; at most $4.00 for 1 run, by the limit',
    );
    expect(text).toContain('; unknown for 1 run (no earlier run of this agent and model; --money');
    const capped = expectedCost(context, planOf('new', runs, { spend: { money: 6 } }));
    expect(capped && costText(capped)).toContain('; at most $6.00 for all together, by the limit');
  });

  test('excludes runs that have ended, and is not shown for models without a price', () => {
    const context = storeWith([{ cost: 5 }, { cost: 7 }]);
    expect(expectedCost(context, planOf('earlier', [{}, {}, {}]))).toMatchObject({ runs: 1, dollars: 6 });
    expect(expectedCost(context, planOf('new', [{ model: 'openai-compatible/llama' }]))).toBeNull();
    expect(expectedCost(context, examplePlan())).toBeNull();
  });

  test('says that nothing is left to pay for if all runs with a known price have finished', () => {
    const context = storeWith([{ cost: 5 }]);
    const done = expectedCost(context, planOf('earlier', [{}]));
    expect(done && costText(done)).toBe(
      'Expected cost of language models: nothing, as all runs with a known price have finished',
    );
  });

  test('counts the runs of models without a known price separately', () => {
    const llama = { model: 'openai-compatible/llama' };
    const mixed = expectedCost(storeWith([{ cost: 5 }]), planOf('new', [{}, llama, llama]));
    expect(mixed).toMatchObject({ runs: 1, dollars: 5, unknown: 0, unpriced: 2 });
    expect(mixed && costText(mixed)).toContain(
      'about $5.00 for 1 run, from 1 earlier run; unknown for 2 runs of models without a known price',
    );
  });

  test('must be confirmed if it is high, with --yes if nobody can be asked', async () => {
    const said: string[] = [];
    const context = {
      ...storeWith([{ cost: 8 }]),
      log: (line: string) => void said.push(line),
      isTerminal: false,
    };
    const one = expectedCost(context, planOf('new', [{}]));
    const two = expectedCost(context, planOf('new', [{}, {}]));
    await confirmCost(context, one, false);
    await expect(confirmCost(context, two, false)).rejects.toMatchObject({
      hint: expect.stringMatching('--yes'),
    });
    await confirmCost(context, two, true);
    const lower = { ...context, settings: { ...context.settings, confirmAbove: 1 } };
    await expect(confirmCost(lower, one, false)).rejects.toThrow();
    expect(said).toHaveLength(4);
  });
});
