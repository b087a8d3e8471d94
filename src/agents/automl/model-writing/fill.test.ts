import { describe, expect, it } from 'vitest';
import {
  briefOf,
  type Execution,
  FakeEnvironment,
  type FakeEnvironmentSettings,
} from '../../../../test/fakes/fake-environment.ts';
import { endedByAlarm, withoutAlarm } from '../../../../test/fakes/without-alarm.ts';
import type { AgentOptions } from '../../../schema/index.ts';
import { automl } from '../automl.ts';
import { isVersion, Trials } from '../trial.ts';
import type { Contract } from './contract.ts';
import { replaceModel } from './fill.ts';

const skeleton = '# TODO: make a model\nprint(model.predict([1]))\n';
const contract: Contract = {
  plan: 'Learn y.',
  kind: 'table',
  is_measured: true,
  parts: ['settings', 'data', 'formats', 'scores', 'models', 'blend', 'table'],
  settings: { TRAIN: 'data/train.csv' },
  reads: 'learn(read_data([]))',
  members: ['boosting', 'linear', 'kernel'],
};
const crash: Execution = { output: 'NameError: name model is not defined', exitCode: 1, seconds: 1 };

/** The output of a run's scripts in turn: the contract, the blend. */
function inTurn(source: string, printed = 'validation MAE: 8', inferred = contract): Execution {
  if (source.includes('CONTRACT'))
    return { output: `CONTRACT ${JSON.stringify(inferred)}`, exitCode: 0, seconds: 1 };
  if (!source.includes('MEMBERS')) return crash;
  return {
    output: printed,
    exitCode: 0,
    seconds: Math.min(30, Number(/^SECONDS = (\d+)$/m.exec(source)?.[1])),
    writes: { 'submission.csv': source },
  };
}

async function runAgent(
  settings: Partial<FakeEnvironmentSettings> = {},
  options: AgentOptions = {},
): Promise<FakeEnvironment> {
  const environment = new FakeEnvironment({
    files: { 'train.py': skeleton },
    execute: (source) => inTurn(source),
    ...settings,
  });
  await automl.run({ environment, seed: 0, options: { max_tries: 2, ...options }, reference: null });
  expect(environment.finalAnswer).not.toBeNull();
  expect(environment.late).toBe(0);
  return environment;
}

const membersIn = (source: string) => /^MEMBERS = (\[[^\]]*\])/m.exec(source)?.[1]?.replace(/\s/g, '');
const actionsOf = ({ taken }: FakeEnvironment) =>
  taken.map(({ name, args }) => `${name} ${String(args.file_name ?? args.script_name ?? '')}`.trim());

describe('a starter that fails', () => {
  it('gets a blend of models that is submitted and checked before anything else', async () => {
    const environment = await runAgent();
    expect(actionsOf(environment).slice(0, 9)).toEqual([
      'List Files',
      'Read File train.py',
      'Execute Script train.py',
      'Write File look_at_data.py',
      'Execute Script look_at_data.py',
      'Write File train.py',
      'Execute Script train.py',
      'Validate Submission',
      // The noise of its score.
      'Write File train.py',
    ]);
    expect(membersIn(withoutAlarm(environment.selected.files.get('train.py') ?? ''))).toContain('"kernel"');
    expect(environment.selected.files.get('submission.csv')).toBe(environment.selected.files.get('train.py'));
    expect(environment.finalAnswer).toContain(
      'a model of boosting, linear, kernel in place of the starter, which was of no use',
    );
    for (const entry of ['Reason', 'Change', 'Prediction', 'Observed', 'Decision', 'Plan'])
      expect(environment.notes.some((note) => note[entry] !== undefined)).toBe(true);
    // The numbers of its own models are left as they are.
    expect(environment.notes.filter(({ Change }) => /→/.test(Change ?? ''))).toEqual([]);
  });

  it('gets no model if the options say so', async () => {
    const environment = await runAgent({}, { models: false });
    expect(environment.executed.filter((source) => source.includes('MEMBERS'))).toEqual([]);
    expect(environment.finalAnswer).toContain('the script ended as failed');
  });

  it('is restored, and the answer says why, if no model can be written', async () => {
    const given = (source: string) =>
      source.includes('CONTRACT')
        ? {
            ...inTurn(source),
            output: `CONTRACT ${JSON.stringify({ problem: 'the rows to predict hold y themselves' })}`,
          }
        : inTurn(source);
    const refused = await runAgent({ execute: given });
    expect(refused.finalAnswer).toContain('hold y themselves');
    const failing = await runAgent({
      execute: (source) => (source.includes('CONTRACT') ? inTurn(source) : crash),
    });
    expect(withoutAlarm(failing.selected.files.get('train.py') ?? '')).toBe(skeleton);
    expect(failing.finalAnswer).toContain('did not work');
    const invalid = await runAgent({ accepts: () => false });
    expect(withoutAlarm(invalid.selected.files.get('train.py') ?? '')).toBe(skeleton);
  });

  it('gets nothing more if its run took all the time', async () => {
    const environment = new FakeEnvironment({
      files: { 'train.py': skeleton },
      seconds: 40,
      execute: () => ({ output: '', exitCode: 1, seconds: 60 }),
    });
    await automl.run({ environment, seed: 0, options: {}, reference: null });
    expect(environment.executed).toEqual([skeleton]);
    expect(environment.late).toBe(0);
  });

  it('is left unchanged if the submission is not one table, or if hardly a step is left', async () => {
    const files = [{ format: 'python' as const, path: 'tool.py', defines: ['act'] }];
    const submission = { description: 'A tool.', files, max_mb: 4 };
    const other = await runAgent({ task: briefOf({ submission }) });
    expect(other.executed).toEqual([skeleton]);
    const short = await runAgent({ steps: 9 });
    expect(short.executed).toEqual([skeleton]);
  });
});

describe('a starter that is of no use', () => {
  const whole = 'print("done")\n';
  const ending = (end: Execution) => (source: string) => (source === whole ? end : inTurn(source));

  it.each([
    ['crashes', { output: 'ValueError', exitCode: 1, seconds: 1 }],
    ['prints no metric', { output: 'done', exitCode: 0, seconds: 1, writes: { 'submission.csv': whole } }],
    ['takes too long and leaves no submission', { output: '', exitCode: null, seconds: 9e9 }],
  ])('is replaced if it %s', async (_, end) => {
    const environment = await runAgent({
      files: { 'train.py': whole },
      execute: ending(end),
      scriptSeconds: 600,
    });
    expect(membersIn(withoutAlarm(environment.selected.files.get('train.py') ?? ''))).toContain('boosting');
  });

  it('stays if it works, prints no metric, and the model is no better than a constant', async () => {
    const silent = { output: 'done', exitCode: 0, seconds: 1, writes: { 'submission.csv': whole } };
    const environment = await runAgent({
      files: { 'train.py': whole },
      execute: (source) =>
        source === whole ? silent : inTurn(source, 'validation MAE: 8\nno better than a constant'),
    });
    expect(withoutAlarm(environment.selected.files.get('train.py') ?? '')).toBe(whole);
    expect(environment.selected.files.get('submission.csv')).toBe(whole);
    expect(environment.finalAnswer).toContain('the model that I wrote is not better');
  });

  it('stays if it takes too long, but leaves a submission', async () => {
    const environment = await runAgent({
      files: { 'train.py': whole, 'submission.csv': whole },
      execute: ending({ output: '', exitCode: null, seconds: 9e9 }),
      scriptSeconds: 600,
    });
    expect(environment.executed).toEqual([whole]);
  });
});

const complete = 'print("validation MAE: 20")\n';

/** Lets automl's model compete with a starter that prints 20 after a second. */
async function compete(
  settings: Partial<FakeEnvironmentSettings> & {
    noise?: number;
    score?: number;
    own?: string;
    ownSeconds?: number;
    heldOut?: unknown;
    contract?: Contract;
  } = {},
) {
  const {
    noise = 0.5,
    score = 8,
    own = `validation MAE: ${score}`,
    ownSeconds,
    heldOut = { problem: 'no rows' },
    contract: inferred = contract,
    ...rest
  } = settings;
  const ran = { exitCode: 0, seconds: 1, writes: { 'submission.csv': complete } };
  const environment = new FakeEnvironment({
    files: { 'train.py': complete },
    execute: (source) => {
      if (source.includes('HELD OUT')) {
        // Of the model, which is compared with the starter.
        const isCompared = !/^OTHER = ""$/m.test(source);
        const found = isCompared ? heldOut : { answers: 'c3RhcnRlcg==', gain: null };
        return { output: `HELD OUT ${JSON.stringify(found)}`, exitCode: 0, seconds: 2 };
      }
      if (source === complete) return { ...ran, output: 'validation MAE: 20' };
      const isLong = ownSeconds !== undefined && source.includes('MEMBERS = [');
      return { ...inTurn(source, own, inferred), ...(isLong && { seconds: ownSeconds }) };
    },
    ...rest,
  });
  const trials = new Trials(environment);
  const { starter } = await trials.runStarter(complete);
  if (!isVersion(starter)) throw new Error(starter.why);
  const filling = await replaceModel(trials, starter, noise);
  const version = filling.kind === 'filled' ? filling.attempt : starter;
  const { files } = environment.selected;
  return { environment, filling, version, files, entry: files.get('train.py') ?? '' };
}

describe('a starter that works', () => {
  it('is replaced by a blend whose validation score is better by more than the noise', async () => {
    const { filling, version, entry, files, environment } = await compete();
    expect(filling.kind).toBe('filled');
    expect(version.measured).toMatchObject({ score: 8, source: withoutAlarm(entry) });
    expect(version.change).toContain("in place of the starter's");
    expect(membersIn(entry)).toContain('"kernel"');
    expect(files.get('submission.csv')).toBe(entry);
    expect(environment.notes.some(({ Observed }) => /not of the same rows/.test(Observed ?? ''))).toBe(true);
  });

  it.each([
    ['is no better', { score: 21 }],
    [
      'is no better, and neither is on withheld rows',
      { score: 21, heldOut: { answers: 'bW9kZWw=', gain: { gain: 1, error: 2 } } },
    ],
    ['is better by less than the noise', { noise: 15 }],
    ['is refused', { accepts: (): boolean => false }],
    [
      'fails',
      {
        execute: (source: string): Execution =>
          source === complete
            ? { output: 'MAE: 20', exitCode: 0, seconds: 1, writes: { 'submission.csv': source } }
            : source.includes('CONTRACT')
              ? inTurn(source)
              : crash,
      },
    ],
  ])('stays with its submission where what was written %s', async (_, settings) => {
    const { filling, entry, files } = await compete(settings);
    expect(filling.kind).toBe('not filled');
    expect(entry).toBe(complete);
    expect(files.get('submission.csv')).toBe(complete);
  });

  it.each([
    ['better', { gain: 5, error: 2 }, 'filled'],
    ['not better', { gain: 1, error: 2 }, 'not filled'],
  ])(
    'that prints its metric under another name is replaced if what was written is %s on withheld rows',
    async (_, gain, kind) => {
      const metric = { name: 'capped MAE', unit: 'points', direction: 'minimize' as const };
      const { filling } = await compete({
        task: briefOf({ metric }),
        own: 'validation capped MAE: 8',
        heldOut: { answers: 'bW9kZWw=', gain },
      });
      expect(filling.kind).toBe(kind);
    },
  );

  it('is replaced although it prints a better score if it is worse on rows withheld from both', async () => {
    const heldOut = { answers: 'bW9kZWw=', gain: { gain: 5, error: 2 } };
    const { filling, version, entry, files, environment } = await compete({ score: 21, heldOut });
    expect(filling).toMatchObject({ kind: 'filled', scores: 'incomparable' });
    expect(version.measured?.source).toBe(withoutAlarm(entry));
    expect(membersIn(entry)).toContain('"kernel"');
    expect(files.get('submission.csv')).toBe(entry);
    expect(environment.notes).toContainEqual({
      Observed: 'On rows that I withhold from both, my model gains +5 ± 2 over the starter.',
    });
  });

  it('is compared on withheld rows in a shorter run if the time left is not enough for a whole one', async () => {
    const heldOut = { answers: 'bW9kZWw=', gain: { gain: 5, error: 2 } };
    const { filling, environment } = await compete({ score: 21, heldOut, seconds: 120, ownSeconds: 45 });
    expect(filling).toMatchObject({ kind: 'filled', scores: 'incomparable' });
    const seconds = environment.taken.flatMap(({ name, args }) =>
      name === 'Write File' && args?.file_name === 'train.py'
        ? Number(/^SECONDS = (\d+)$/m.exec(String(args.content))?.[1])
        : [],
    );
    expect(seconds).toHaveLength(2);
    expect(seconds[1]).toBeLessThan(20);
    expect(seconds[1]).toBeGreaterThan(10);
  });

  it('costs two steps if the contract cannot be inferred, and none if time is short or is the metric', async () => {
    const blind = await compete({
      execute: (source) =>
        source === complete
          ? { output: 'MAE: 20', exitCode: 0, seconds: 1 }
          : { output: 'CONTRACT {}', exitCode: 0, seconds: 1 },
    });
    expect(blind.filling.kind).toBe('not filled');
    expect(blind.environment.taken).toHaveLength(3);
    const short = await compete({ seconds: 12 });
    expect(short.filling).toHaveProperty('why', expect.stringContaining('time'));
    expect(short.environment.taken).toHaveLength(1);
    const metric = { name: 'run time', unit: 'seconds', direction: 'minimize' as const };
    const timed = await compete({
      task: briefOf({ metric }),
      execute: () => ({ output: 'run time: 2 s', exitCode: 0, seconds: 1 }),
    });
    expect(timed.filling).toHaveProperty('why', expect.stringContaining('time'));
    expect(timed.environment.taken).toHaveLength(1);
  });

  it('stays if what was written does not end', async () => {
    const { filling, entry, files, environment } = await compete({
      seconds: 100,
      execute: (source) =>
        endedByAlarm(source, (plain) => {
          if (plain !== complete)
            return { ...inTurn(plain), ...(plain.includes('MEMBERS = [') && { seconds: 9e9 }) };
          return {
            ...{ output: 'MAE: 20', exitCode: 0, seconds: 1 },
            writes: { 'submission.csv': plain },
          };
        }),
    });
    expect(filling).toHaveProperty('why', expect.stringContaining('timed_out'));
    expect(environment.late).toBe(0);
    expect(entry).toBe(complete);
    expect(files.get('submission.csv')).toBe(complete);
  });

  it('stays, and no model is run, if neither its metric could be computed nor rows be withheld', async () => {
    const { filling, environment } = await compete({
      execute: (source) =>
        source === complete
          ? { output: 'MAE: 20', exitCode: 0, seconds: 1 }
          : inTurn(source, '', { ...contract, kind: 'arrays', is_measured: false }),
    });
    expect(filling).toHaveProperty('why', expect.stringContaining("can't compute"));
    expect(environment.taken).toHaveLength(3);
  });

  it.each([
    ['better', { gain: 5, error: 2 }, { kind: 'filled', scores: 'incomparable' }],
    ['not better', { gain: 1, error: 2 }, { kind: 'not filled' }],
  ])(
    'is compared by another metric on withheld rows if its own can not be computed: %s',
    async (_, gain, ends) => {
      const { filling, version } = await compete({
        contract: { ...contract, is_measured: false },
        own: 'validation rmse instead: 30',
        heldOut: { answers: 'bW9kZWw=', gain },
      });
      expect(filling).toMatchObject(ends);
      expect(version.measured).toMatchObject({ other: ends.kind === 'filled' });
    },
  );

  it('is replaced if it guesses, but only by a model that its own metric says is better', async () => {
    const guessing =
      'class Model:\n    def fit(self, rows):\n        """TODO: learn."""\n        self.rows = rows\n';
    const works = (score: number) => (source: string) =>
      withoutAlarm(source) === guessing
        ? {
            ...inTurn(source),
            output: `validation MAE: ${score}`,
            exitCode: 0,
            writes: { 'submission.csv': source },
          }
        : inTurn(source);
    const files = { 'train.py': guessing };
    const better = await runAgent({ files, execute: works(100) });
    expect(membersIn(withoutAlarm(better.selected.files.get('train.py') ?? ''))).toContain('boosting');
    const worse = await runAgent({ files, execute: works(1) });
    expect(withoutAlarm(worse.selected.files.get('train.py') ?? '')).toBe(guessing);
    expect(withoutAlarm(worse.selected.files.get('submission.csv') ?? '')).toBe(guessing);
  });
});
