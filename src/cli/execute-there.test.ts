import { expect, test } from 'vitest';
import { examplePlan } from '../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { roleSettings } from '../models/index.ts';
import { ExperimentFile } from '../schema/index.ts';
import { createContext } from './context.ts';
import { refuseUncountedLimit } from './execute-there.ts';

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

test('a limit of the experiment is refused where each machine would count only its own calls', () => {
  expect(refusal({ on: 'slurm' }, { money: 5 })).toContain('--experiment-money would not hold on slurm');
  expect(refusal({ on: 'slurm' }, { tokens: 5 })).toContain('--gateway-on submit');
  expect(refusal({ on: 'kubernetes' }, { tokens: 5 })).toContain('--experiment-tokens would not hold');
});

test('a limit of the experiment is accepted where all calls are counted together, or none are made', () => {
  expect(refusal({ on: 'slurm', slurm: { gateway_on: 'submit' } }, { money: 5 })).toBe('');
  expect(refusal({ on: 'redis' }, { money: 5 })).toBe('');
  expect(refusal({}, { money: 5 })).toBe('');
  expect(refusal({ on: 'slurm' }, {})).toBe('');
  expect(refusal({ on: 'slurm' }, { money: 5 }, null)).toBe('');
});
