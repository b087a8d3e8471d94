import { describe, expect, it } from 'vitest';
import {
  briefOf,
  type Execution,
  FakeEnvironment,
  type FakeEnvironmentSettings,
} from '../../../test/fakes/fake-environment.ts';
import { withoutAlarm } from '../../../test/fakes/without-alarm.ts';
import type { AgentOptions } from '../../schema/index.ts';
import { automl } from './automl.ts';

const network = `import torch
from torch import nn

SEED = 0
torch.manual_seed(SEED)
model = nn.Sequential(nn.Conv1d(8, 16, 1), nn.Flatten(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for epoch in range(5):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"validation MAE: {mae:.4f}")
`;

const seedOf = (source: string) => Number(/SEED = (\d+)/.exec(source)?.[1]);

/** Better with another optimiser, whatever else is changed; normalisation breaks it. */
function trained(source: string): Execution {
  if (source.includes('BatchNorm')) return { output: 'Traceback', exitCode: 1, seconds: 1 };
  const score = (source.includes('AdamW') ? 5 : 10) + seedOf(source) / 100;
  return {
    output: `validation MAE: ${score}`,
    exitCode: 0,
    seconds: 1,
    writes: { 'submission.csv': source },
  };
}

async function runAgent(
  settings: Partial<FakeEnvironmentSettings> = {},
  options: AgentOptions = {},
): Promise<FakeEnvironment> {
  const environment = new FakeEnvironment({
    files: { 'train.py': network, 'submission.csv': '' },
    steps: 120,
    ...settings,
    execute: (source, files) => (settings.execute ?? trained)(withoutAlarm(source), files),
  });
  await automl.run({ environment, seed: 0, options: { models: false, ...options }, reference: null });
  expect(environment.finalAnswer).not.toBeNull();
  expect(environment.late).toBe(0);
  return environment;
}

describe('the rewriting of a script', () => {
  it('keeps what helps, undoes what fails, and notes each try by its name before it is made', async () => {
    const environment = await runAgent();
    const best = withoutAlarm(environment.selected.files.get('train.py') ?? '');
    expect(best).toContain('AdamW');
    expect(best).not.toContain('BatchNorm');
    expect(seedOf(best)).toBe(0);
    expect(environment.selected.files.get('submission.csv')).toBe(best);
    const rewrites = environment.notes.filter(({ Rewrite }) => Rewrite !== undefined);
    expect(rewrites.map(({ Rewrite }) => Rewrite)).toEqual([
      'torch: usual recipe for pictures',
      'torch: usual recipe',
      'torch: train longer',
    ]);
    for (const note of rewrites) {
      expect(note.Change).toMatch(/\.$/);
      expect(note.Reason).toMatch(/\.$/);
      expect(note.Prediction).toContain('MAE');
    }
    expect(environment.finalAnswer).toContain('AdamW');
  });

  it('leaves out the rewrites that it is told to leave out', async () => {
    const { notes } = await runAgent({}, { leave_out: 'torch: usual recipe for, torch: train' });
    const names = notes.flatMap(({ Rewrite }) => (Rewrite === undefined ? [] : [Rewrite]));
    expect(names).toEqual(['torch: usual recipe']);
  });

  it('is left out if the options say so, and by the control', async () => {
    for (const options of [{ rewrites: false }, { search: 'random' }]) {
      const environment = await runAgent({}, options);
      expect(environment.notes.filter(({ Rewrite }) => Rewrite !== undefined)).toEqual([]);
      expect(withoutAlarm(environment.selected.files.get('train.py') ?? '')).not.toContain('AdamW');
    }
  });

  it('works without tuning numbers if the options say so', async () => {
    const environment = await runAgent({}, { numbers: false });
    expect(environment.notes.filter(({ Change }) => /→/.test(Change ?? ''))).toEqual([]);
    expect(withoutAlarm(environment.selected.files.get('train.py') ?? '')).toContain('AdamW');
    expect((await runAgent()).notes.some(({ Change }) => /→/.test(Change ?? ''))).toBe(true);
  });

  it('uses at most half of the steps, so that numbers can be tuned', async () => {
    const environment = await runAgent({ steps: 50 });
    const first = environment.notes.findIndex(({ Change }) => /→/.test(Change ?? ''));
    expect(first).toBeGreaterThan(0);
    const tries = environment.notes.slice(0, first).filter(({ Rewrite }) => Rewrite !== undefined);
    expect(tries.length).toBeGreaterThan(0);
    expect(tries.length).toBeLessThan(12);
  });

  it('continues from any recorded prefix as if it had never stopped', async () => {
    const whole = await runAgent();
    for (let steps = 0; steps < whole.results.length; steps += 25) {
      const environment = await runAgent({ recorded: whole.results.slice(0, steps) });
      expect(environment.taken.slice(0, steps)).toEqual(whole.taken.slice(0, steps));
    }
  });
});

const summing = `import time

start = time.perf_counter()
result = 0
for place in range(1000):
    result += place * place
print(f"total: {result}")
print(f"seconds: {time.perf_counter() - start:.4f}")
`;

/** The output of the program that looks for faster functions. */
const offered = (isProven: boolean) =>
  `OFFERS ${JSON.stringify({
    offers: [
      {
        ...{
          name: 'python: a sum',
          change: 'Line 5 is a sum.',
          reason: 'it is faster.',
          weight: 0.9,
          effort: 0.1,
        },
        isProven,
        edits: [{ path: 'train.py', first: 3, end: 5, lines: ['result = sum(n * n for n in range(1000))'] }],
      },
    ],
  })}`;

describe('the rewriting of a timed script', () => {
  const task = briefOf({ metric: { name: 'seconds', unit: 'seconds', direction: 'minimize' } });
  const timed = (totalAfter: number, isProven: boolean) => (source: string) => {
    if (source.includes('MOST_SECONDS')) return { output: offered(isProven), exitCode: 0, seconds: 2 };
    const isLoop = source.includes('for place in');
    return {
      output: `total: ${isLoop ? 332833500 : totalAfter}\nseconds: ${isLoop ? 2 : 0.1}`,
      exitCode: 0,
      seconds: 2,
    };
  };

  it('keeps a version that is faster and prints the same', async () => {
    const environment = await runAgent({
      task,
      files: { 'train.py': summing },
      execute: timed(332833500.0000001, false),
    });
    expect(withoutAlarm(environment.selected.files.get('train.py') ?? '')).not.toContain('for place in');
  });

  it('undoes a version that is faster but prints something else', async () => {
    const environment = await runAgent({
      task,
      files: { 'train.py': summing },
      execute: timed(332900000, true),
    });
    expect(withoutAlarm(environment.selected.files.get('train.py') ?? '')).toBe(summing);
    expect(
      environment.notes.some(({ Decision }) => /Faster, but it no longer prints/.test(Decision ?? '')),
    ).toBe(true);
  });
});
