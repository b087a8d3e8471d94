import fc from 'fast-check';
import { expect, test } from 'vitest';
import { estimatorScripts } from '../../../../test/fixtures/estimator-scripts.ts';
import { rewriteEstimators } from './estimators.ts';
import { surroundingsOf } from './test-support.ts';

const rmse = surroundingsOf({ name: 'RMSE', unit: 'points', direction: 'minimize' });
const f1 = surroundingsOf({ name: 'F1', unit: 'fraction', direction: 'maximize' });

function namesOf(code: string, surroundings = rmse): string[] {
  return rewriteEstimators(code, surroundings).map(({ name }) => name);
}

const fitted = (rest: string) =>
  `from sklearn.linear_model import Ridge\nSEED = 4\nmodel = Ridge(alpha=2).fit(x, y)\nfinal = Ridge(alpha=2).fit(z, y)\n${rest}\n`;

test('all estimators of a class change together, with the seed of the script', () => {
  const trees = rewriteEstimators(fitted(''), rmse).find(({ name }) => name.endsWith('extra trees'));
  expect(trees?.source.match(/= sk_ensemble\.ExtraTreesRegressor\(.*random_state=SEED\)\.fit/g)).toHaveLength(
    2,
  );
  expect(trees?.source).toContain('from sklearn import ensemble as sk_ensemble\n');
  expect(trees?.change).toContain('in lines 3 and 4');
});

test('each estimator of a quantile becomes boosting of the same quantile', () => {
  const code =
    'from sklearn.linear_model import QuantileRegressor\nlow = QuantileRegressor(quantile=0.1, alpha=0)\nfor level in levels:\n    model = QuantileRegressor(alpha=0, quantile=level, solver="highs")\n';
  const [only, ...others] = rewriteEstimators(code, rmse);
  expect(others).toEqual([]);
  expect(
    only?.source.match(/GradientBoostingRegressor\(loss="quantile", quantile=(?:0\.1|level), /g),
  ).toHaveLength(2);
});

test.each(['print(model.coef_)', 'GridSearchCV(Ridge(), grid)', 'model.partial_fit(x, y)'])(
  'nothing is offered if the script uses what only some estimators have: %s',
  (rest) => {
    expect(namesOf(fitted(rest))).toEqual([]);
  },
);

test('classes that are not of scikit-learn are left unchanged, even with the same name', () => {
  expect(namesOf('import sklearn\nfrom cuml import Ridge\nmodel = Ridge().fit(x, y)\n')).toEqual([]);
});

test('for texts nothing is offered', () => {
  const code = estimatorScripts.find(({ title }) => title === 'texts')?.code ?? '';
  expect(namesOf(code, f1)).toEqual([]);
});

test('whatever the text, it never throws', () => {
  const part = fc.constantFrom(
    ...['model', ' = ', 'Ridge(', 'Ridge()', ')', '.fit(x, y)', '\n', 'for i in range(3):\n    '],
    ...['TfidfVectorizer(', 'SVC', '[', ']', ', ', 'alpha=1', '**', '"', 'sklearn', '.svm', 'Ridge', 'π'],
  );
  fc.assert(
    fc.property(fc.string({ unit: part, maxLength: 20 }), (text) => {
      rewriteEstimators(`from sklearn.linear_model import Ridge\n${text}`, f1);
    }),
  );
});
