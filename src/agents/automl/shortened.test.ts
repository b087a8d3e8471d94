import { describe, expect, it } from 'vitest';
import { type Execution, FakeEnvironment } from '../../../test/fakes/fake-environment.ts';
import { withoutAlarm } from '../../../test/fakes/without-alarm.ts';
import { automl } from './automl.ts';

/**
 * Each round takes a second; the error falls with the rounds, and with lr near 0.03. Nothing is written before the end.
 */
function train(source: string): Execution {
  const numberOf = (name: string) => Number(new RegExp(`^${name} = (\\S+)$`, 'm').exec(source)?.[1] ?? 60);
  const error = 10 / numberOf('epochs') + Math.log10(numberOf('lr') / 0.03) ** 2;
  const output = `validation MAE: ${error}`;
  return { output, exitCode: 0, seconds: numberOf('epochs'), writes: { 'submission.csv': source } };
}

async function runAgent(source: string): Promise<FakeEnvironment> {
  const environment = new FakeEnvironment({
    files: { 'train.py': source },
    scriptSeconds: 10,
    execute: (version) => train(withoutAlarm(version)),
    accepts: (files) => files.has('submission.csv'),
  });
  await automl.run({ environment, seed: 0, options: { models: false }, reference: null });
  expect(environment.finalAnswer).not.toBeNull();
  expect(environment.late).toBe(0);
  return environment;
}

describe('a starter that is stopped at its time limit', () => {
  it('is run with fewer rounds, and improved from there', async () => {
    const environment = await runAgent('lr = 1.0\nepochs = 60\n');
    const [first, second] = environment.executed.map(withoutAlarm);
    expect([first, second]).toEqual(['lr = 1.0\nepochs = 60\n', 'lr = 1.0\nepochs = 6\n']);
    const best = environment.files.get('train.py') ?? '';
    expect(environment.files.get('submission.csv')).toBe(best);
    expect(best).not.toContain('lr = 1.0');
    expect(environment.finalAnswer).toContain('I shortened it (epochs 60 → 6)');
  });

  it('is replaced by the same values for every row if it has no rounds to leave out', async () => {
    const environment = await runAgent('lr = 1.0\n');
    expect(environment.executed[0]).toBe('lr = 1.0\n');
    expect(environment.executed[1]).toContain('Writes the same value for every row');
    expect(environment.finalAnswer).toContain('ended as timed_out');
  });
});
