import fc from 'fast-check';
import { expect, test } from 'vitest';
import { estimatorScripts } from '../../../../../test/fixtures/estimator-scripts.ts';
import { surroundingsOf } from '../made-up-surroundings.ts';
import { rewriteScikitLearn } from './rewrite-scikit-learn.ts';

const packages = ['numpy', 'scikit-learn'];
const rmse = surroundingsOf({ name: 'RMSE', unit: 'points', direction: 'minimize' }, packages);
const f1 = surroundingsOf({ name: 'F1', unit: 'fraction', direction: 'maximize' }, packages);

function namesOf(code: string, surroundings = rmse): string[] {
  return rewriteScikitLearn(code, surroundings).map(({ name }) => name);
}

test.each(estimatorScripts)(
  'about twelve others are offered, the most promising first: $title',
  ({ code, metric }) => {
    const offers = rewriteScikitLearn(code, surroundingsOf(metric, packages));
    const weights = offers.map(({ weight }) => weight);
    expect(offers.length).toBeGreaterThan(4);
    expect(offers.length).toBeLessThanOrEqual(12);
    expect(weights).toEqual(weights.toSorted((left, right) => right - left));
    expect(new Set(offers.map(({ source }) => source)).size).toBe(offers.length);
  },
);

const fitted = (rest: string) =>
  `from sklearn.linear_model import Ridge\nSEED = 4\nmodel = Ridge(alpha=2).fit(x, y)\nfinal = Ridge(alpha=2).fit(z, y)\n${rest}\n`;

test('all estimators of a class change together, with the seed of the script', () => {
  const trees = rewriteScikitLearn(fitted(''), rmse).find(({ name }) => name.endsWith('extra trees'));
  expect(trees?.source.match(/= ExtraTreesRegressor\(.*random_state=SEED\)\.fit/g)).toHaveLength(2);
  expect(trees?.source).toContain('from sklearn.ensemble import ExtraTreesRegressor\n');
  expect(trees?.change).toContain('lines 3 and 4');
});

test.each(['print(model.coef_)', 'print(Ridge().fit(x, y).intercept_)', 'GridSearchCV(Ridge(), grid)'])(
  'no other family is offered if the script uses what only this one has: %s',
  (rest) => {
    expect(namesOf(fitted(rest))).toEqual([]);
  },
);

test('classes that are not of scikit-learn are left unchanged, even with the same name', () => {
  expect(namesOf('from cuml import Ridge\nmodel = Ridge().fit(x, y)\n')).toEqual([]);
  const own = fitted('class ExtraTreesRegressor:\n    pass');
  expect(namesOf(own)).not.toContain('scikit-learn: extra trees');
});

test('for texts linear models and other counts of words are offered, and no trees', () => {
  const code = estimatorScripts.find(({ title }) => title === 'texts')?.code ?? '';
  const names = namesOf(code, f1);
  expect(names).toContain('scikit-learn: words and pairs of words');
  expect(names).toContain('scikit-learn: LogisticRegression(class_weight="balanced")');
  expect(names.filter((name) => /trees|histogram/.test(name))).toEqual([]);
});

test("a loop of the script's own is kept for its own model and runs once for others", () => {
  const code = estimatorScripts.find(({ title }) => title.includes('own'))?.code ?? '';
  const offers = rewriteScikitLearn(code, f1);
  const adam = offers.find(({ name }) => name.includes('solver="adam")'));
  expect(adam?.source).toBe(code.replace('solver="sgd"', 'solver="adam"'));
  const trees = offers.find(({ name }) => name.endsWith('extra trees'));
  expect(trees?.source).toContain('for epoch in range(1):');
  expect(trees?.source).toContain('    model.fit(X_train, y_train)\n    pass\n');
});

test('whatever the text, it never throws', () => {
  const part = fc.constantFrom(
    ...[
      'model',
      ' = ',
      'Ridge(',
      'Ridge()',
      ')',
      '.fit(x, y)',
      '.partial_fit(x, y)',
      '\n',
      'for i in range(3):\n    ',
    ],
    ...[
      'TfidfVectorizer(',
      'SVC',
      '[',
      ']',
      ', ',
      'alpha=1',
      '**',
      '"',
      'sklearn',
      '.svm',
      'MLPClassifier(',
      'π',
    ],
  );
  fc.assert(
    fc.property(fc.string({ unit: part, maxLength: 20 }), (text) => {
      const head =
        'from sklearn.linear_model import Ridge\nfrom sklearn.neural_network import MLPClassifier\nfrom sklearn.feature_extraction.text import TfidfVectorizer\n';
      rewriteScikitLearn(head + text, f1);
    }),
  );
});
