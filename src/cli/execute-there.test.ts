import { expect, test } from 'vitest';
import { examplePlan } from '../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { roleSettings } from '../models/index.ts';
import { ExperimentFile } from '../schema/index.ts';
import { createContext } from './context.ts';
import { documentsElsewhere, refuseUncountedLimit, tryPlace, withDocuments } from './execute-there.ts';

function refusal(executor: object, spend: object, model: string | null = 'openai/gpt-5'): string {
  const context = createContext({ dir: temporaryFolder() }, {}, '1', new AbortController().signal);
  const plan = examplePlan();
  const roles = roleSettings(model, {});
  const runs = plan.runs.map((run) => (roles === null ? run : { ...run, roles }));
  const wanted = ExperimentFile.parse({ tasks: ['digits'], agents: ['research'], executor });
  try {
    refuseUncountedLimit(context, { ...plan, runs, spend }, wanted);
    return '';
  } catch (error) {
    return error instanceof Error && 'hint' in error ? `${error.message} ${error.hint}` : String(error);
  }
}

test('a limit of the experiment is refused if each machine would count only its own calls', () => {
  expect(refusal({ on: 'slurm' }, { money: 5 })).toContain('--experiment-money would not hold on slurm');
  expect(refusal({ on: 'slurm' }, { tokens: 5 })).toContain('--gateway-on submit');
  expect(refusal({ on: 'kubernetes' }, { tokens: 5 })).toContain('--experiment-tokens would not hold');
});

test('a limit of the experiment is accepted if all calls are counted together, or there are none', () => {
  expect(refusal({ on: 'slurm', slurm: { gateway_on: 'submit' } }, { money: 5 })).toBe('');
  expect(refusal({ on: 'redis' }, { money: 5 })).toBe('');
  expect(refusal({}, { money: 5 })).toBe('');
  expect(refusal({ on: 'slurm' }, {})).toBe('');
  expect(refusal({ on: 'slurm' }, { money: 5 }, null)).toBe('');
});

const elsewhere = (executor: object) => {
  const context = createContext(
    { dir: temporaryFolder() },
    { PATH: '/nowhere', KUBECONFIG: '/nowhere' },
    '1',
    new AbortController().signal,
  );
  return { context, wanted: ExperimentFile.parse({ tasks: ['digits'], agents: ['noop'], executor }) };
};

test.each([
  ['no_slurm', { on: 'slurm' }],
  ['no_redis', { on: 'redis://127.0.0.1:1' }],
  ['bad_experiment', { on: 'kubernetes' }],
])(
  'an executor that cannot be reached from here is refused before anything is planned: %s',
  async (code, executor) => {
    const { context, wanted } = elsewhere(executor);
    await expect(tryPlace(context, examplePlan(), wanted)).rejects.toMatchObject({ code });
  },
);

test('the script and the options for Slurm are shown for a plan', async () => {
  const { context, wanted } = elsewhere({ on: 'slurm', slurm: { partition: 'night', cores: 3 } });
  const documents = await documentsElsewhere(context, examplePlan(), [], wanted);
  const text = withDocuments('a plan', documents ?? []);
  expect(text).toMatch(/^# a plan\n/);
  expect(text).toMatch(/# sbatch .*--partition=night .*--cpus-per-task=3/);
  expect(text).toContain('#!/bin/bash');
});
