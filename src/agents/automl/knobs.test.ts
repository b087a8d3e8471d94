import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { briefOf } from '../../../test/fakes/fake-environment.ts';
import { withFreshSeeds } from '../search/fresh-seeds.ts';
import { findKnobs } from './knobs.ts';
import { syntaxErrors } from './python-source.ts';
import { literalOf, moved, type StepDirection, steps } from './scales.ts';
import { seedsSplitData, tunableKnobs, withValues } from './versions.ts';

function found(source: string): string[] {
  return findKnobs(source).map(({ name, literal }) => `${name}=${literal}`);
}

const starter = `
import argparse
from dataclasses import dataclass, field

SEED = 3
LEARNING_RATE: float = 0.1
epochs, batch_size = 5, 128
np.random.seed(SEED)

@dataclass
class Config:
    dropout: float = 0.5
    hidden: int = field(default=64)

parser = argparse.ArgumentParser()
parser.add_argument('-w', '--weight-decay', type=float, default=1e-4, help='0.5 is much')
parser.add_argument('--n-jobs', type=int, default=4)

def train(x, momentum=0.9, *, max_depth: int = 3):
    for epoch in range(10):
        print(f'{epoch:03d} {0.5}', round(x[0], 3))

def evaluate(model, threshold=0.5):
    alpha = 0.3
    return model

x_train, x_valid = train_test_split(x, test_size=0.2, random_state=1)
images = x.reshape(64, 64, 3) / 16.0
model = make_pipeline(StandardScaler(), Ridge(1.0))
forest = RandomForestRegressor(n_estimators=100, min_samples_leaf=1, random_state=0, n_jobs=-1)
net = MLPClassifier(hidden_layer_sizes=(100, 50), alpha=1e-4, max_iter=200)
params = {'learning_rate': 0.3, 'num_leaves': 31, 'seed': 7, 'verbosity': -1}
score = cross_val_score(Lasso(alpha=0.7), x, y, cv=5)
print(mean_absolute_error(y, p, squared=0.5))
self.gamma = 0.2
`;

describe('the knob finder', () => {
  it.each([
    [
      '@dataclass\nclass Settings:\n    depth: int\n    width: int\n    dropout: float\nSettings(2, 128, 0.2)',
      ['depth=2', 'width=128', 'dropout=0.2'],
    ],
    [
      'class Net(Module):\n    def __init__(self, inputs, hidden, outputs):\n        pass\nNet(8, 16, 2)',
      ['hidden=16'],
    ],
    ['def train(lr, epochs, *, tag=""):\n    pass\ntrain(0.5, 3)', ['lr=0.5', 'epochs=3']],
    ['for epoch in range(1, 31):\n    pass', ['epochs=31']],
    ['for step in range(200):\n    loss.backward()', ['epochs=200']],
    ['for step in range(200):\n    total += step', []],
  ])('finds what stands by position or in rounds: %s', (source, numbers) => {
    expect(found(source)).toEqual(numbers);
  });

  it.each([
    ['json', '{"model": {"hidden": 8}, "validation": {"last": {"weeks": 13}}, "weeks": 4}\n'],
    ['py', 'model = {"hidden": 8}\nconfig = {"validation": {"last": {"weeks": 13}}, "weeks": 4}\n'],
  ])('leaves settings of the validation alone, also in groups (%s)', (ending, text) => {
    const all = found(`weeks = 5\n\n# ---- config.${ending} ----\n${text}`);
    expect(all).toContain('weeks=5');
    expect(all.length).toBeGreaterThan(1);
    expect(all).not.toContain('weeks=13');
  });

  it('finds the numbers of a starter that may matter, and ignores the others', () => {
    expect(found(starter)).toEqual([
      'LEARNING_RATE=0.1',
      'epochs=5',
      'batch_size=128',
      'dropout=0.5',
      'hidden=64',
      '--weight-decay=1e-4',
      'momentum=0.9',
      'max_depth=3',
      'epochs=10',
      'alpha=1.0',
      'n_estimators=100',
      'min_samples_leaf=1',
      'hidden_layer_sizes=100',
      'hidden_layer_sizes=50',
      'alpha=1e-4',
      'max_iter=200',
      'learning_rate=0.3',
      'num_leaves=31',
      'alpha=0.7',
      'gamma=0.2',
    ]);
  });

  it.each([
    'random_state = 4',
    'SEED = 1.5',
    'axis = 1',
    'x = y[3]',
    'x = y[lr(alpha=0.5)]',
    'test_size = 0.2',
    'VALIDATION_FRACTION = 0.25',
    'n_splits = 5',
    'folds = KFold(n_splits=5, shuffle=True)',
    'image_size = 28',
    'n_classes = 10',
    'verbose = 2',
    'log_every = 100',
    'max_rows = 1000',
    'n_samples = 500',
    'num_workers = 4',
    's = "lr = 0.1"',
    's = f"{f(alpha=0.1)}"',
    'model.score(x, y, alpha=0.5)',
    'def smape(y, p, alpha=0.5):\n    lr = 0.1\n',
    'nn.Conv2d(3, 16, kernel_size=5, stride=2, padding=2)',
    'nn.Linear(400, 120)',
    'x = 0x10',
    'lr = 1j',
    'lr = -0.1',
    'print(alpha=0.5)',
    'dropout = 20',
  ])('finds nothing in %j', (source) => {
    expect(found(source)).toEqual([]);
  });

  it.each([
    'NEIGHBOURS=15',
    'TREES=100',
    'LAYERS=2',
    'POLYNOMIAL_DEGREE=2',
    'PSEUDOCOUNT=1.0',
    'REGULARISATION=0.1',
    'CLUSTERS=8',
    'kernel_bandwidth=0.5',
    'POPULATION=20',
    'generations=10',
    'ELITE_SHARE=0.2',
    'cooling=0.999',
    'EMBED_DIM=8',
    'n_layer=1',
    'MAX_VOCAB=500',
    'N_MELS=32',
    'WINDOW=24',
  ])('finds a constant by the plain name of what it is, as in %j', (source) => {
    expect(found(`${source}\n`)).toEqual([source]);
  });

  it('identifies a constant with its own name by its uses', () => {
    const source = 'TREES = 300\nPARTS = 5\nK = 4\nHELD = 0.3\nX = 7\nmodel = Forest(n_estimators=TREES)\n';
    const uses =
      'split = KFold(PARTS)\ncross_val_score(m, cv=K)\ntrain_test_split(a, b, HELD)\nf(random_state=X)\n';
    expect(found(source + uses).join()).toBe('TREES=300');
    expect(found('LR = 0.1\nf(lr=LR)\nprint(f"lr {LR}")\n')).toEqual(['LR=0.1']);
  });

  it('never throws, whatever the text', () => {
    expect(found(`hidden = ${'['.repeat(20_000)}5`)).toEqual([]);
    const pieces = fc.constantFrom(
      ...[
        'lr',
        '=',
        '0.1',
        '(',
        ')',
        '[',
        ']',
        '{',
        '}',
        ',',
        ':',
        'def ',
        'class ',
        '\n',
        '    ',
        '"',
        "'",
        '#',
        '5',
      ],
      ...[
        'for epoch in range(3):',
        'f"',
        '*',
        '@',
        'lambda',
        'alpha=',
        '\\',
        '🙂',
        '1e',
        '.',
        'Ridge(',
        'SEED=3',
      ],
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(pieces).map((parts) => parts.join('')),
        ),
        (source) => {
          for (const { from, to, literal } of findKnobs(source)) expect(source.slice(from, to)).toBe(literal);
          expect(withFreshSeeds(source, 1)).toBeTypeOf('string');
          expect(seedsSplitData(source)).toBeTypeOf('boolean');
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('the numbers that a task allows to change', () => {
  const source = 'top_k = 3\nweeks = 8\nvec = CountVectorizer(max_features=60)\nForest(max_features=0.5)\n';
  const namesFor = (metric: string) =>
    tunableKnobs(source, briefOf({ metric: { name: metric, unit: 'fraction', direction: 'maximize' } })).map(
      ({ name, value }) => `${name} ${value}`,
    );

  it('are not those that decide what is measured, such as the length of a list of guesses', () => {
    expect(namesFor('top-3 accuracy')).toEqual(['weeks 8', 'max_features 60', 'max_features 0.5']);
    expect(namesFor('recall@3')).not.toContain('top_k 3');
    expect(namesFor('recall@10')).toContain('top_k 3');
  });
});

describe('a version of a script', () => {
  const knobs = findKnobs(starter);
  const walks = fc.array(
    fc.array(fc.tuple(fc.constantFrom<StepDirection>(1, -1), fc.constantFrom(0, 1, 2))),
    {
      minLength: knobs.length,
      maxLength: knobs.length,
    },
  );

  it('is the starter byte by byte except for the changed numbers, and parses', () => {
    fc.assert(
      fc.property(walks, (walk) => {
        const values = knobs.map((knob, place) =>
          (walk[place] ?? []).reduce((value, [direction, size]) => {
            const { first, most, least } = steps[knob.prior.scale];
            return moved(knob, value, direction, [first, most, least][size] ?? first) ?? value;
          }, knob.value),
        );
        const version = withValues(starter, knobs, values);
        expect(syntaxErrors(version)).toBe(syntaxErrors(starter));
        let expected = starter;
        for (const [place, knob] of [...knobs.entries()].reverse()) {
          const text = literalOf(knob, values[place] ?? knob.value);
          expected = expected.slice(0, knob.from) + text + expected.slice(knob.to);
        }
        expect(version).toBe(expected);
        for (const [place, knob] of knobs.entries()) {
          const value = values[place] ?? 0;
          expect(Number(literalOf(knob, value))).toBeCloseTo(value, 12);
          expect(value).toBeLessThanOrEqual(knob.prior.most);
          expect(value).toBeGreaterThan(0);
        }
      }),
    );
  });

  it('is the starter itself if no value is changed', () => {
    const values = knobs.map(({ value }) => value);
    expect(withValues(starter, knobs, values)).toBe(starter);
  });

  it('has other seeds also in a long line that nearly sets some', () => {
    const line = `A"-SEED"\t`.repeat(100_000);
    expect(withFreshSeeds(`${line}\np.add_argument("--seed", default=3)\n`, 1)).toBe(
      `${line}\np.add_argument("--seed", default=4)\n`,
    );
  });

  it('is read at once, however long its names and numbers are', () => {
    const [name, digits] = ['A'.repeat(300_000), '0'.repeat(300_000)];
    expect(findKnobs(`${name}.fit(lr=0.1)\nlr = ${digits}j\n`)).toMatchObject([{ name: 'lr', value: 0.1 }]);
  });

  it('has other seeds wherever they are set', () => {
    const source =
      'SEED = 3\nnp.random.seed(1)\nrng = np.random.default_rng(2)\nf(random_state=4, seed=None)\n' +
      'seed: int = int(os.environ.get("SEED", "0"))\n';
    expect(withFreshSeeds(source, 1)).toBe(
      'SEED = 4\nnp.random.seed(2)\nrng = np.random.default_rng(3)\nf(random_state=5, seed=None)\n' +
        'seed: int = int(os.environ.get("SEED", "0")) + 1\n',
    );
  });

  it('knows whether a seed determines how data is split', () => {
    expect(seedsSplitData('m = Ridge(random_state=0)\n')).toBe(false);
    expect(seedsSplitData('a = train_test_split(x, random_state=0)\n')).toBe(true);
    expect(seedsSplitData('SEED = 1\na = train_test_split(x, random_state=SEED)\n')).toBe(true);
    expect(seedsSplitData('rng = default_rng(0)\norder = rng.permutation(9)\n')).toBe(true);
  });
});
