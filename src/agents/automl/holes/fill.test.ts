import { describe, expect, it } from 'vitest';
import {
  briefOf,
  type Execution,
  FakeEnvironment,
  type FakeEnvironmentSettings,
} from '../../../../test/fakes/fake-environment.ts';
import { automl } from '../automl.ts';

const skeleton = '# TODO: make a model\nprint(model.predict([1]))\n';
const looked = {
  packages: ['numpy', 'pandas', 'sklearn'],
  given: [] as string[],
  tables: [
    { path: 'data/test.csv', rows: 5, has_id: true, shared: 2, texts: 0, more: [] },
    {
      path: 'data/train.csv',
      rows: 900,
      has_id: true,
      shared: 2,
      texts: 0,
      more: [{ name: 'y', known: 900, distinct: 700, numeric: true, values: [] }],
    },
  ],
};
const crash: Execution = { output: 'NameError: name model is not defined', exitCode: 1, seconds: 1 };

/** What the scripts of a run print: the look at the data, the quick model, the blend. */
function inTurn(source: string, blend = 8, quick = 10): Execution {
  if (source.includes('TABLES'))
    return { output: `TABLES ${JSON.stringify(looked)}`, exitCode: 0, seconds: 1 };
  if (!source.includes('MEMBERS')) return crash;
  const isQuick = source.includes('MEMBERS = ["boosting"]\n');
  // Numbers that are changed make it worse.
  const worse = source.includes('n_estimators": 300') && source.includes('max_iter": 250') ? 0 : 1;
  return {
    output: `validation MAE: ${(isQuick ? quick : blend) + worse}`,
    exitCode: 0,
    seconds: isQuick ? 2 : 30,
    writes: { 'submission.csv': source },
  };
}

async function runAgent(settings: Partial<FakeEnvironmentSettings> = {}): Promise<FakeEnvironment> {
  const environment = new FakeEnvironment({
    files: { 'train.py': skeleton },
    execute: (source) => inTurn(source),
    ...settings,
  });
  await automl.run({ environment, seed: 0, options: { patience: 2 }, reference: null });
  expect(environment.finalAnswer).not.toBeNull();
  expect(environment.late).toBe(0);
  return environment;
}

const membersIn = (source: string) => /^MEMBERS = (.*)$/m.exec(source)?.[1];
const actionsOf = ({ taken }: FakeEnvironment) =>
  taken.map(({ name, args }) => `${name} ${String(args.file_name ?? args.script_name ?? '')}`.trim());

describe('a starter that lacks its model', () => {
  it('gets a quick model that is handed in and checked before anything else, and then a blend', async () => {
    const environment = await runAgent();
    expect(actionsOf(environment).slice(0, 12)).toEqual([
      'List Files',
      'Read File train.py',
      'Execute Script train.py',
      'Write File look_at_tables.py',
      'Execute Script look_at_tables.py',
      'Write File train.py',
      'Execute Script train.py',
      'Validate Submission',
      'Write File train.py',
      'Execute Script train.py',
      'Validate Submission',
      'Write File train.py',
    ]);
    expect(membersIn(environment.files.get('train.py') ?? '')).toContain('"kernel"');
    expect(environment.files.get('submission.csv')).toBe(environment.files.get('train.py'));
    expect(environment.finalAnswer).toContain('The starter lacked its model; I wrote one of boosting');
    for (const entry of ['Reason', 'Change', 'Prediction', 'Observed', 'Decision', 'Plan'])
      expect(environment.notes.some((note) => note[entry] !== undefined)).toBe(true);
    const goesOn = environment.notes.filter(({ Change }) => /→/.test(Change ?? ''));
    expect(goesOn.length).toBeGreaterThan(0);
  });

  it('keeps the quick model, freshly run, where the blend is worse, fails or takes too long', async () => {
    const failing = (source: string) =>
      membersIn(source)?.includes(',') ? { output: 'Killed', exitCode: 1, seconds: 9 } : inTurn(source);
    for (const settings of [
      { execute: (source: string) => inTurn(source, 12) },
      { execute: failing },
      { scriptSeconds: 20 },
    ]) {
      const environment = await runAgent(settings);
      const entry = environment.files.get('train.py') ?? '';
      expect(membersIn(entry)).toBe('["boosting"]');
      expect(environment.files.get('submission.csv')).toBe(entry);
    }
  });

  it('gets no blend that the time does not allow', async () => {
    const environment = await runAgent({ seconds: 20 });
    expect(environment.executed.filter((source) => membersIn(source)?.includes(','))).toEqual([]);
    expect(membersIn(environment.files.get('train.py') ?? '')).toBe('["boosting"]');
  });

  it('is put back, and the answer says why, where no model can be written', async () => {
    const given = (source: string) =>
      source.includes('TABLES')
        ? { ...inTurn(source), output: `TABLES ${JSON.stringify({ ...looked, given: ['y'] })}` }
        : inTurn(source);
    const refused = await runAgent({ execute: given });
    expect(refused.finalAnswer).toContain('hold y themselves');
    const failing = await runAgent({
      execute: (source) => (source.includes('TABLES') ? inTurn(source) : crash),
    });
    expect(failing.files.get('train.py')).toBe(skeleton);
    expect(failing.finalAnswer).toContain('did not work');
    const invalid = await runAgent({ accepts: () => false });
    expect(invalid.files.get('train.py')).toBe(skeleton);
  });

  it('is left alone where something else than one table is asked for, or hardly a step is left', async () => {
    const files = [{ format: 'python' as const, path: 'tool.py', defines: ['act'] }];
    const submission = { description: 'A tool.', files, max_mb: 4 };
    const other = await runAgent({ task: briefOf({ submission }) });
    expect(other.executed).toEqual([skeleton]);
    const short = await runAgent({ steps: 9 });
    expect(short.executed).toEqual([skeleton]);
  });

  it('but works, by guessing, is replaced only by what its own measure says is better', async () => {
    const guessing =
      'class Model:\n    def fit(self, rows):\n        """TODO: learn."""\n        self.rows = rows\n';
    const works = (score: number) => (source: string) =>
      source === guessing
        ? {
            ...inTurn(source),
            output: `validation MAE: ${score}`,
            exitCode: 0,
            writes: { 'submission.csv': source },
          }
        : inTurn(source);
    const files = { 'train.py': guessing };
    const better = await runAgent({ files, execute: works(100) });
    expect(membersIn(better.files.get('train.py') ?? '')).toContain('boosting');
    const worse = await runAgent({ files, execute: works(1) });
    expect(worse.files.get('train.py')).toBe(guessing);
    expect(worse.files.get('submission.csv')).toBe(guessing);
    expect(worse.executed.at(-1)).toBe(guessing);
  });
});
