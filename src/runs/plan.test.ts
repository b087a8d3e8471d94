import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { exampleLesson } from '../../test/fixtures/experience.ts';
import { agentByName } from '../agents/index.ts';
import { type AgentOptions, ExperimentFile, type Lesson } from '../schema/index.ts';
import { loadTask } from '../tasks/index.ts';
import { makeForkPlan, makePlan } from './index.ts';

const task = loadTask('digits', [join(import.meta.dirname, '../../tasks')]);

function planOf(changes: Record<string, unknown> = {}, options: AgentOptions = {}) {
  const file = ExperimentFile.parse({
    ...{ tasks: ['digits'], agents: ['tools'], models: ['anthropic/claude-sonnet-4-5'] },
    ...changes,
  });
  return makePlan(file, [{ task, verified: true }], [{ agent: agentByName('tools'), options }], '1');
}

describe('the name of an experiment', () => {
  test('is the same for the same experiment, even if a limit was raised, or its runs are executed elsewhere', () => {
    const { name } = planOf();
    expect(planOf({ spend: { tokens: 9_000 }, parallel: 7 }).name).toBe(name);
    expect(planOf({ executor: { on: 'slurm', slurm: { partition: 'gpu' } } }).name).toBe(name);
    expect(planOf({ providers: { anthropic: { concurrent: 2 } } }).name).toBe(name);
  });

  test('differs if the agent has other options, or another model', () => {
    const { name } = planOf();
    expect(planOf({}, { nudges: 1 }).name).not.toBe(name);
    expect(planOf({ models: ['openai/gpt-5'] }).name).not.toBe(name);
  });
});

test('runs of models whose names differ only in characters that ids lack have different ids', () => {
  const idsOf = (...models: string[]) => planOf({ models, seeds: 1 }).runs.map(({ id }) => id);
  const [one, other, third] = idsOf('openai/gpt-4.1', 'openai/gpt-4-1', 'openai/gpt-5');
  expect([one, other].map((id) => id?.replace(/-[0-9a-f]{4}-0$/, '-HASH-0'))).toEqual([
    'digits-tools-openai-gpt-4-1-HASH-0',
    'digits-tools-openai-gpt-4-1-HASH-0',
  ]);
  expect(one).not.toBe(other);
  expect(third).toBe('digits-tools-openai-gpt-5-0');
  expect(() => idsOf('openai/gpt-5', 'openai/gpt-5')).toThrow('planned twice');
});

test('runs of a task that requires a GPU always get one, others only if one is wanted and used', () => {
  const given = (gpu: 'none' | 'optional' | 'required', changes: Record<string, unknown> = {}) => {
    const file = ExperimentFile.parse({ tasks: ['digits'], agents: ['noop'], ...changes });
    const using = { ...task, file: { ...task.file, resources: { ...task.file.resources, gpu } } };
    const plan = makePlan(
      file,
      [{ task: using, verified: true }],
      [{ agent: agentByName('noop'), options: {} }],
      '1',
    );
    return plan.runs[0]?.gpu;
  };
  expect([given('none'), given('optional'), given('required')]).toEqual([false, false, true]);
  expect([given('none', { gpu: true }), given('optional', { gpus: 2 })]).toEqual([false, true]);
});

describe('experience', () => {
  const planWith = (lessons: readonly Lesson[], changes: Record<string, unknown> = {}) => {
    const file = ExperimentFile.parse({
      ...{ tasks: ['digits'], agents: ['tools', 'noop'], models: ['anthropic/claude-sonnet-4-5'] },
      ...changes,
    });
    const planned = file.agents.map((name) => ({ agent: agentByName(String(name)), options: {} }));
    return makePlan(file, [{ task, verified: true }], planned, '1', () => [...lessons]).runs;
  };

  test('is frozen in the runs of the agents that use it, and gives them a caveat', () => {
    const [warm, noop] = planWith([exampleLesson()]);
    expect(warm).toMatchObject({ experience: [exampleLesson()], caveats: ['warm: 1 lesson'] });
    expect(noop).not.toHaveProperty('experience');
    expect(noop?.caveats).toEqual([]);
    expect(planWith([])[0]).toMatchObject({ experience: [], caveats: ['cold: no lesson fits'] });
    expect(planWith([exampleLesson()], { experience: 'a', same_task: true })[0]?.caveats).toEqual([
      'warm: 1 lesson, the same task included',
    ]);
  });

  test('stays with a forked run', () => {
    const [source] = planWith([exampleLesson()]);
    if (source === undefined) throw new Error('the plan is empty');
    const parent = { experiment: source.experiment, run: source.id, step: 3 };
    const [fork] = makeForkPlan(source, parent, ExperimentFile.parse({}), {}, '1').runs;
    expect(fork).toMatchObject({ experience: source.experience, caveats: ['warm: 1 lesson'] });
  });

  test('is absent unless requested, and gives the experiment another name', () => {
    expect(planOf().runs[0]).not.toHaveProperty('experience');
    expect(planOf({ experience: 'experiments' }).name).not.toBe(planOf().name);
  });
});

describe('the sandbox and the GPU of a forked run', () => {
  const [source] = planOf().runs;
  if (source === undefined) throw new Error('the plan is empty');
  const parent = { experiment: source.experiment, run: source.id, step: 3 };
  const fork = (changes: Record<string, unknown>) =>
    makeForkPlan(source, parent, ExperimentFile.parse(changes), {}, '1');

  test('are as requested, and without a sandbox its results get a caveat', () => {
    expect(fork({ sandbox: 'docker', docker_image: 'python:3.13', gpu: true }).runs[0]).toMatchObject({
      ...{ sandbox: 'docker', docker_image: 'python:3.13', gpu: true, caveats: source.caveats },
    });
    expect(fork({ sandbox: 'none' }).runs[0]).toMatchObject({ sandbox: 'none', caveats: ['no sandbox'] });
  });

  test('make it another experiment', () => {
    const names = [{}, { sandbox: 'none' }, { gpu: true }].map((changes) => fork(changes).name);
    expect(new Set(names).size).toBe(3);
  });
});

describe('the models of a run', () => {
  test('have the paper’s settings, and the agent’s model if no other is named', () => {
    const roles = planOf({ roles: { fast: { model: 'openai/gpt-5-nano' }, editor: { temperature: 0 } } })
      .runs[0]?.roles;
    const agent = { model: 'anthropic/claude-sonnet-4-5', temperature: 0.5, max_output_tokens: 2000 };
    expect(roles).toEqual({
      agent,
      editor: { ...agent, temperature: 0, max_output_tokens: 4000 },
      fast: { ...agent, model: 'openai/gpt-5-nano' },
    });
  });

  test('of a forked run are the same, except for what is set anew', () => {
    const [source] = planOf().runs;
    if (source === undefined) throw new Error('the plan is empty');
    const parent = { experiment: source.experiment, run: source.id, step: 3 };
    const fork = (changes: Record<string, unknown>) =>
      makeForkPlan(source, parent, ExperimentFile.parse(changes), {}, '1').runs[0];
    expect(fork({})).toMatchObject({
      parent,
      model: source.model,
      roles: source.roles,
      limits: source.limits,
    });
    expect(fork({ roles: { agent: { temperature: null } } })?.roles?.agent).toEqual({
      ...source.roles?.agent,
      temperature: null,
    });
    const other = fork({ models: ['google/gemini-2.5-pro'], limits: { steps: 7 } });
    expect(other).toMatchObject({ model: 'google/gemini-2.5-pro', limits: { ...source.limits, steps: 7 } });
    expect(() => fork({ models: ['a/b', 'c/d'] })).toThrow('one model');
  });

  test('of a forked run with another model keep their settings, and roles their own models', () => {
    const roles = { agent: { temperature: 0, max_output_tokens: 8000 }, editor: { model: 'openai/editor' } };
    const [source] = planOf({ roles }).runs;
    if (source?.roles === undefined) throw new Error('the plan has no models');
    const parent = { experiment: source.experiment, run: source.id, step: 3 };
    const changes = ExperimentFile.parse({ models: ['openai/other'], roles: { fast: { temperature: 1 } } });
    const { agent, editor, fast } = source.roles;
    expect(makeForkPlan(source, parent, changes, {}, '1').runs[0]?.roles).toEqual({
      agent: { ...agent, model: 'openai/other' },
      editor,
      fast: { ...fast, model: 'openai/other', temperature: 1 },
    });
  });
});

describe('the id of a run', () => {
  test('is shortened if it would be too long, and stays its own', () => {
    const model = (name: string) => `openai-compatible//${'folder/'.repeat(30)}${name}/model.gguf`;
    const ids = ['a', 'b'].map((name) => planOf({ models: [model(name)] }).runs[0]?.id ?? '');
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^.{100,160}-0$/);
    const [source] = planOf({ models: [model('a')] }).runs;
    if (source === undefined) throw new Error('the plan is empty');
    const parent = { experiment: source.experiment, run: source.id, step: 12 };
    const [fork] = makeForkPlan(source, parent, ExperimentFile.parse({}), {}, '1').runs;
    expect(fork?.id).toMatch(/-from-12$/);
  });
});
