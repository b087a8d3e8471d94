import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  briefOf,
  type Execution,
  FakeEnvironment,
  type FakeEnvironmentSettings,
} from '../../../test/fakes/fake-environment.ts';
import { endedByAlarm, withoutAlarm } from '../../../test/fakes/without-alarm.ts';
import { sha256 } from '../../lib/hash.ts';
import { type AgentOptions, SearchNode, searchNodeEntry } from '../../schema/index.ts';
import { automl } from './automl.ts';

const starter = `
SEED = 0
lr = 10.0
alpha = 1e-4
epochs = 5
max_depth = 2
test_size = 0.2
`;

function numberIn(source: string, name: string): number {
  return Number(new RegExp(`^${name} = (\\S+)$`, 'm').exec(source)?.[1]);
}

/**
 * An error with its minimum at lr 0.03, alpha 0.01 and depth 6, which falls with the epochs; run time grows with them.
 */
function surface(source: string, jitter = 0): Execution {
  const off = (name: string, best: number) => Math.log10(numberIn(source, name) / best) ** 2;
  const depth = (numberIn(source, 'max_depth') - 6) ** 2;
  const epochs = numberIn(source, 'epochs');
  const error = 10 + 5 * off('lr', 0.03) + off('alpha', 0.01) + 0.3 * depth + 10 / epochs;
  const seeded = error + jitter * Math.sin(error * 1e6 + numberIn(source, 'SEED') * 77);
  return {
    output: `train MAE: 1.0\nvalidation MAE: ${seeded}\ntest MAE: 99`,
    exitCode: 0,
    seconds: epochs / 5,
    writes: { 'submission.csv': source },
  };
}

function errorOf(source: string): number {
  return Number(/validation MAE: (\S+)/.exec(surface(source).output)?.[1]);
}

async function runAgent(
  settings: Partial<FakeEnvironmentSettings> = {},
  seed = 0,
  options: AgentOptions = {},
): Promise<FakeEnvironment> {
  const environment = new FakeEnvironment({
    files: { 'train.py': starter, 'submission.csv': '' },
    ...settings,
    execute: (source, files) =>
      endedByAlarm(source, (plain) => (settings.execute ?? ((each) => surface(each)))(plain, files)),
  });
  // The search over numbers alone; the other features have their own tests.
  const numbersAlone = { rewrites: false, models: false, ...options };
  await automl.run({ environment, seed, options: numbersAlone, reference: null });
  return environment;
}

function expectSoundEnd(environment: FakeEnvironment): void {
  expect(environment.finalAnswer).not.toBeNull();
  expect(environment.late).toBe(0);
  const last = environment.results.at(-1)?.budget;
  expect(last?.steps_left).toBeGreaterThanOrEqual(0);
  expect(last?.seconds_left).toBeGreaterThan(0);
}

describe('automl', () => {
  it("improves a script with a bad learning rate a lot, and submits the best version's output", async () => {
    for (const seed of [0, 1, 2, 3, 4]) {
      const environment = await runAgent({}, seed);
      expectSoundEnd(environment);
      const best = withoutAlarm(environment.selected.files.get('train.py') ?? '');
      expect(errorOf(best)).toBeLessThan(errorOf(starter) * 0.75);
      expect(environment.selected.files.get('submission.csv')).toBe(best);
      expect(numberIn(best, 'test_size')).toBe(0.2);
      expect(numberIn(best, 'SEED')).toBe(0);
      // A gain of less than 0.1 % of the starter's score is not worth a change.
      const least = Math.min(...environment.executed.map(errorOf));
      expect(errorOf(best)).toBeLessThanOrEqual(least + errorOf(starter) * 0.001);
    }
  });

  it('records every version that it tries as a tree, whose best one is submitted', async () => {
    const environment = await runAgent({}, 2);
    const nodes = environment.notes.flatMap(({ [searchNodeEntry]: text }) =>
      text === undefined ? [] : [SearchNode.parse(JSON.parse(text))],
    );
    // The second run of the starter, for the noise, is no version.
    expect(nodes.map(({ id }) => id)).toEqual(environment.executed.slice(1).map((_, id) => id));
    const [root, ...tried] = nodes;
    expect(root).toMatchObject({
      operator: 'starter',
      parent: null,
      status: 'kept',
      score: errorOf(starter),
    });
    for (const { id, parent, operator, status } of tried) {
      const bestBefore = nodes.slice(0, id).findLast((one) => one.is_best);
      expect({ parent, operator, isKnown: status !== 'pending' }).toEqual({
        ...{ parent: bestBefore?.id, operator: 'tune', isKnown: true },
      });
    }
    const best = nodes.findLast(({ is_best }) => is_best);
    expect(best?.score).toBe(errorOf(withoutAlarm(environment.selected.files.get('train.py') ?? '')));
    const kept = tried.filter(({ status }) => status === 'kept').length;
    expect(environment.finalAnswer).toContain(`Versions tried: ${tried.length}; kept: ${kept}; failed: 0.`);
    expect(nodes.reduce((sum, { cost }) => sum + cost, 0)).toBeLessThanOrEqual(1);
  });

  it('takes the same actions for the same results', async () => {
    const settings = { execute: (source: string) => surface(source, 0.5), steps: 120 };
    const first = await runAgent(settings, 7);
    const second = await runAgent(settings, 7);
    expect(second.taken).toEqual(first.taken);
    expect(second.notes).toEqual(first.notes);
    const other = await runAgent(settings, 8);
    expect(other.taken).not.toEqual(first.taken);
  });

  it('continues from any recorded prefix as if it had never stopped', async () => {
    const whole = await runAgent({}, 3);
    for (let steps = 0; steps <= whole.results.length; steps += 7) {
      const environment = await runAgent({ recorded: whole.results.slice(0, steps) }, 3);
      expect(environment.taken.slice(0, steps)).toEqual(whole.taken.slice(0, steps));
    }
    // With all results recorded nothing is run again, and every action is the same.
    const replayed = await runAgent(
      { recorded: whole.results, execute: () => expect.fail('was run again') },
      3,
    );
    expect(replayed.taken).toEqual(whole.taken);
  });

  it('stays within any budget, and leaves the best version with its own submission', async () => {
    const budgets = fc.record({
      seed: fc.nat(1000),
      steps: fc.integer({ min: 3, max: 80 }),
      seconds: fc.double({ min: 2, max: 200, noNaN: true }),
      jitter: fc.constantFrom(0, 0.2, 2),
      failing: fc.constantFrom(0, 3, 7),
    });
    await fc.assert(
      fc.asyncProperty(budgets, async ({ seed, steps, seconds, jitter, failing }) => {
        const execute = (source: string): Execution => {
          // The starter always runs; of the other versions, one in `failing` crashes half-way, each time it is run.
          const crashes =
            failing > 0 && source !== starter && Number(`0x${sha256(source).slice(0, 8)}`) % failing === 0;
          if (crashes)
            return { output: 'Traceback', exitCode: 1, seconds: 0.5, writes: { 'submission.csv': 'torn' } };
          return surface(source, jitter);
        };
        const accepts = (files: ReadonlyMap<string, string>) => files.get('submission.csv') !== 'torn';
        const environment = await runAgent({ steps, seconds, execute, accepts }, seed);
        expectSoundEnd(environment);
        const entry = withoutAlarm(environment.selected.files.get('train.py') ?? '');
        expect(environment.selected.files.get('submission.csv')).toBe(entry);
      }),
      { numRuns: 150 },
    );
  });

  it('counts a crash as the worst score', async () => {
    const execute = (source: string): Execution =>
      numberIn(source, 'lr') === 10 ? surface(source) : { output: 'Traceback', exitCode: 1, seconds: 1 };
    const environment = await runAgent({ execute });
    expectSoundEnd(environment);
    expect(numberIn(withoutAlarm(environment.selected.files.get('train.py') ?? ''), 'lr')).toBe(10);
  });

  it('goes on without the noise if a second run of the starter fails', async () => {
    const execute = (source: string): Execution =>
      numberIn(source, 'SEED') === 0 ? surface(source) : { output: 'Traceback', exitCode: 1, seconds: 1 };
    const environment = await runAgent({ execute });
    expectSoundEnd(environment);
    const best = withoutAlarm(environment.selected.files.get('train.py') ?? '');
    expect(errorOf(best)).toBeLessThan(errorOf(starter) * 0.75);
    expect(environment.selected.files.get('submission.csv')).toBe(best);
  });

  it('tries nothing as slow again once a script was stopped at its time limit', async () => {
    const environment = await runAgent({ scriptSeconds: 1.5 });
    expectSoundEnd(environment);
    const stopped = environment.executed.filter((source) => numberIn(source, 'epochs') > 7);
    expect(stopped.length).toBe(1);
    expect(errorOf(withoutAlarm(environment.selected.files.get('train.py') ?? ''))).toBeLessThan(
      errorOf(starter),
    );
  });

  it('keeps no change if all differences are noise', async () => {
    let runs = 0;
    const execute = (source: string): Execution => {
      runs += 1;
      const luck = [5, -5, 1, -3, 4, -4, 2][runs % 7] ?? 0;
      return { ...surface(source), output: `validation MAE: ${50 + luck}` };
    };
    const environment = await runAgent({ execute, files: { 'train.py': starter.replace('SEED = 0', '') } });
    expectSoundEnd(environment);
    expect(environment.finalAnswer).toContain('the starter is submitted');
  });

  it('submits the best version as it ran, however many files its submission has', async () => {
    const { submission } = briefOf({});
    const files = ['submission.csv', 'a.txt', 'b.txt', 'c.txt'].map((path) => ({
      ...{ format: 'file' as const, path, description: 'a part' },
    }));
    const task = briefOf({ submission: { ...submission, files } });
    const environment = await runAgent({ task }, 0, { max_tries: 8 });
    expectSoundEnd(environment);
    const best = withoutAlarm(environment.selected.files.get('train.py') ?? '');
    expect(errorOf(best)).toBeLessThan(errorOf(starter));
    expect(environment.selected.files.get('submission.csv')).toBe(best);
    // No version runs twice, besides the starter for the noise.
    const runs = environment.executed.map(withoutAlarm);
    expect(new Set(runs).size).toBe(runs.length);
  });

  it('does not keep a version with a better score whose submission is not accepted', async () => {
    const environment = await runAgent({
      accepts: (files) => numberIn(files.get('submission.csv') ?? '', 'lr') === 10,
    });
    expectSoundEnd(environment);
    const best = withoutAlarm(environment.selected.files.get('train.py') ?? '');
    expect(numberIn(best, 'lr')).toBe(10);
    expect(errorOf(best)).toBeLessThan(errorOf(starter));
  });

  it('says so, and submits the existing results, if the starter prints no metric', async () => {
    const environment = await runAgent({
      execute: () => ({ output: 'test MAE: 4', exitCode: 0, seconds: 1 }),
    });
    expectSoundEnd(environment);
    expect(environment.executed).toEqual([starter]);
    expect(environment.finalAnswer).toContain('printed no MAE that I can read');
  });

  it('says so if the starter fails, is missing, or must not be changed', async () => {
    const crash = await runAgent({ execute: () => ({ output: 'Traceback', exitCode: 1, seconds: 1 }) });
    expectSoundEnd(crash);
    expect(crash.finalAnswer).toContain('the script ended as failed');
    const missing = await runAgent({ files: {} });
    expectSoundEnd(missing);
    const locked = await runAgent({ task: briefOf({ read_only: ['train.py'] }) });
    expectSoundEnd(locked);
    expect(locked.finalAnswer).toContain('the script could not be written');
  });

  it('changes no number of a timed script that affects what is computed', async () => {
    const source = 'stride = 2\nepochs = 3\nbatch_size = 32\nchunk_size = 4\n';
    const environment = await runAgent({
      task: briefOf({ metric: { name: 'seconds', unit: 'seconds', direction: 'minimize' } }),
      files: { 'train.py': source },
      execute: (text) => {
        const seconds = 8 / numberIn(text, 'chunk_size');
        return { output: `took ${seconds} s`, exitCode: 0, seconds };
      },
    });
    expectSoundEnd(environment);
    const best = withoutAlarm(environment.selected.files.get('train.py') ?? '');
    expect(best).toMatch(/^stride = 2\nepochs = 3\nbatch_size = 32\nchunk_size = \d+\n$/);
    expect(numberIn(best, 'chunk_size')).toBeGreaterThan(4);
  });

  it("tries changes of a script that takes a quarter of the time, and submits the best version's output", async () => {
    const environment = await runAgent({
      seconds: 125,
      execute: (source) => ({ ...surface(source), seconds: 30, writes: { 'submission.csv': source } }),
    });
    expectSoundEnd(environment);
    const best = withoutAlarm(environment.selected.files.get('train.py') ?? '');
    expect(environment.executed.length).toBeGreaterThan(2);
    expect(errorOf(best)).toBeLessThan(errorOf(starter));
    expect(environment.selected.files.get('submission.csv')).toBe(best);
  });

  it('stops after the given number of tries', async () => {
    const { notes } = await runAgent({}, 0, { max_tries: 3 });
    expect(notes.filter((note) => note.Prediction).length).toBe(3);
  });

  it.each([
    ['plain', '', (line: string) => line],
    ['numbered', 'Lines of train.py:', (line: string, number: number) => `${number}: ${line}`],
    ['aligned', '', (line: string, number: number) => `${String(number).padStart(5)}\t${line}`],
  ])('reads a script too long for one answer in blocks whose lines come %s', async (_, heading, showLine) => {
    const filler = Array.from(
      { length: 450 },
      (_none, place) => `# ${place} ${'about nothing '.repeat(5)}\n\n`,
    );
    const long = `${filler.slice(0, 200).join('')}${starter}${filler.slice(200).join('')}`;
    const environment = await runAgent({ files: { 'train.py': long }, heading, showLine });
    const written = environment.taken.find(({ name }) => name === 'Write File')?.args.content;
    expect(withoutAlarm(String(written)).split('\n').length).toBe(long.split('\n').length);
    expect(withoutAlarm(String(written)).replace(/SEED = 1/, 'SEED = 0')).toBe(long);
  });

  it.each([899, 900, 901])(
    'reads a script of %d lines in the form in which the environment shows it',
    async (count) => {
      const filler = Array.from(
        { length: count - 7 },
        (_none, place) => `# ${place} ${'words '.repeat(10)}\n`,
      );
      const long = `${starter}${filler.join('')}`;
      expect(long.split('\n').length - 1).toBe(count);
      const environment = await runAgent({
        files: { 'train.py': long },
        showLine: (line, number) => `${number}: ${line}`,
        footing: `[train.py has ${count} lines]`,
        cutRemark: `[the file has ${long.length} bytes; its middle was not read]`,
      });
      const written = environment.taken.find(({ name }) => name === 'Write File')?.args.content;
      expect(withoutAlarm(String(written)).replace(/SEED = 1/, 'SEED = 0')).toBe(long);
    },
  );

  it('improves a real Python script whose steps are too large to learn anything', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'automl-'));
    try {
      const environment = await runAgent({
        files: { 'train.py': lineFit },
        execute: (source, files) => runPython(folder, source, files),
      });
      expectSoundEnd(environment);
      const first = Number(/MAE: (\S+)/.exec(environment.results[2]?.observation ?? '')?.[1]);
      const written = environment.selected.files.get('submission.csv') ?? '';
      expect(first).toBeGreaterThan(1);
      expect(Number(written)).toBeLessThan(first / 2);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

/** Fits a line by gradient descent, far too slowly; its "submission" is its validation error. */
const lineFit = `
LEARNING_RATE = 0.0001
EPOCHS = 40

xs = [i / 20 for i in range(100)]
ys = [3.0 * x + 1.0 + ((i * 7919) % 13 - 6) / 60 for i, x in enumerate(xs)]
train = [i for i in range(100) if i % 5]
valid = [i for i in range(100) if i % 5 == 0]
slope, offset = 0.0, 0.0
for epoch in range(EPOCHS):
    errors = [(slope * xs[i] + offset - ys[i], xs[i]) for i in train]
    slope -= LEARNING_RATE * sum(e * x for e, x in errors) / len(errors)
    offset -= LEARNING_RATE * sum(e for e, _ in errors) / len(errors)
mae = sum(abs(slope * xs[i] + offset - ys[i]) for i in valid) / len(valid)
print(f"validation MAE: {mae:.4f}")
with open("submission.csv", "w") as file:
    file.write(str(mae))
`;

function runPython(folder: string, source: string, files: ReadonlyMap<string, string>): Execution {
  for (const [name, content] of files) writeFileSync(join(folder, name), content);
  writeFileSync(join(folder, 'train.py'), source);
  const done = spawnSync('python3', ['train.py'], { cwd: folder, encoding: 'utf8', timeout: 20_000 });
  const output = `${done.stdout}${done.stderr}`;
  const writes = { 'submission.csv': readFileSync(join(folder, 'submission.csv'), 'utf8') };
  return { output, exitCode: done.status, seconds: 0.1, writes };
}
