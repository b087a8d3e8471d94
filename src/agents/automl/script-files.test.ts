import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { briefOf, type Execution, FakeEnvironment } from '../../../test/fakes/fake-environment.ts';
import { withoutAlarm } from '../../../test/fakes/without-alarm.ts';
import { automl } from './automl.ts';
import { filesIn, inTheirFiles } from './script-files.ts';

const starter = {
  'train.py':
    'import json\nimport config\nfrom model import Net\nfrom scoring import score\nsettings = json.load(open("params.json"))\n',
  'config.py': '# Training.\nLEARNING_RATE = 10.0\n',
  'model.py': 'class Net:\n    def __init__(self, hidden=4):\n        self.hidden = hidden\n',
  'params.json': '{"weight_decay": 0.5, "verbose": true}\n',
  'scoring.py': 'threshold = 0.5\n',
  'data.json': '{"dropout": 0.5}\n',
};

function numberIn(text: string | undefined, name: RegExp): number {
  return Number(new RegExp(`${name.source}\\D*?([\\d.e-]+)`).exec(text ?? '')?.[1]);
}

/** An error with its minimum at a rate of 0.1, a width of 64 and a decay of 0.001. */
function train(source: string, files: ReadonlyMap<string, string>): Execution {
  const off = (value: number, best: number) => Math.log10(value / best) ** 2;
  const error =
    off(numberIn(files.get('config.py'), /LEARNING_RATE =/), 0.1) +
    off(numberIn(files.get('model.py'), /hidden=/), 64) +
    off(numberIn(files.get('params.json'), /"weight_decay":/), 0.001);
  const output = `validation MAE: ${error}`;
  const parts = ['config.py', 'model.py', 'params.json'].map((path) => files.get(path));
  const submission = [withoutAlarm(source), ...parts].join('|');
  return { output, exitCode: 0, seconds: 1, writes: { 'submission.csv': submission } };
}

async function runAgent(read_only: string[] = []): Promise<FakeEnvironment> {
  const environment = new FakeEnvironment({
    files: starter,
    steps: 120,
    task: briefOf({ read_only }),
    execute: train,
  });
  const options = { rewrites: false, models: false };
  await automl.run({ environment, seed: 0, options, reference: null });
  expect(environment.late).toBe(0);
  return environment;
}

describe('a starter of several files', () => {
  it('is tuned in all of them, except for data and evaluation, and the best version ran last', async () => {
    const environment = await runAgent();
    const { files } = environment;
    expect(numberIn(files.get('config.py'), /LEARNING_RATE =/)).toBeLessThan(2);
    expect(numberIn(files.get('model.py'), /hidden=/)).toBeGreaterThan(8);
    expect(numberIn(files.get('params.json'), /"weight_decay":/)).toBeLessThan(0.1);
    expect(JSON.parse(files.get('params.json') ?? '')).toMatchObject({ verbose: true });
    expect(files.get('scoring.py')).toBe(starter['scoring.py']);
    expect(files.get('data.json')).toBe(starter['data.json']);
    const paths = ['train.py', 'config.py', 'model.py', 'params.json'];
    const parts = paths.map((path) => withoutAlarm(files.get(path) ?? ''));
    expect(files.get('submission.csv')).toBe(parts.join('|'));
    expect(parts[0]).toBe(starter['train.py']);
    const notes = environment.notes.map(({ Change }) => Change ?? '').join('\n');
    expect(notes).toContain('(line 2 of config.py)');
  });

  it('keeps files that must not be changed', async () => {
    const { files } = await runAgent(['config.py', 'params.json']);
    expect(files.get('config.py')).toBe(starter['config.py']);
    expect(files.get('params.json')).toBe(starter['params.json']);
    expect(files.get('model.py')).not.toBe(starter['model.py']);
  });
});

describe('files as one text', () => {
  const mark = (path: string) => `\n# ---- ${path} ----\n`;

  it('are split as they were joined', () => {
    const text = fc.string({ unit: 'grapheme' }).filter((each) => !each.includes('# ---- '));
    fc.assert(
      fc.property(text, text, text, (entry, model, settings) => {
        const source = `${entry}${mark('model.py')}${model}${mark('params.json')}${settings}`;
        expect([...filesIn(source, 'train.py')]).toEqual([
          ['train.py', entry],
          ['model.py', model],
          ['params.json', settings],
        ]);
      }),
    );
  });

  it('have the line numbers of their files', () => {
    const source = `a = 1\nb = 2${mark('model.py')}c = 3\nd = 4\n`;
    expect(inTheirFiles('lr (line 2)', source)).toBe('lr (line 2)');
    expect(inTheirFiles('lr (line 5)', source)).toBe('lr (line 2 of model.py)');
    expect(inTheirFiles('after the layers in lines 2 and 4.', source)).toBe(
      'after the layers in lines 2 and 1 of model.py.',
    );
  });
});
