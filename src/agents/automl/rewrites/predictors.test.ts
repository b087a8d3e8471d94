import { expect, test } from 'vitest';
import { rewritePredictors } from './predictors.ts';
import { surroundingsOf } from './test-support.ts';

const surroundings = surroundingsOf({ name: 'MAE', unit: 'm', direction: 'minimize', best: 0 });
const offered = (source: string) => rewritePredictors(source, surroundings).map((each) => each.source);

const script = `import numpy as np


def predict(X_train: np.ndarray, y_train: np.ndarray, X_test: np.ndarray) -> np.ndarray:
    """Predicts."""
    weights = np.linalg.lstsq(X_train, y_train, rcond=None)[0]
    # Straight.
    return X_test @ weights


print(predict(np.ones((3, 1)), np.ones(3), np.ones((2, 1))))
`;

test('a function that fits and predicts arrays fits lines in logarithms instead', () => {
  const [rewritten = ''] = offered(script);
  expect(rewritten).toContain(
    '    """Predicts."""\n    return by_logarithms(X_train, y_train, X_test)\n\n\nprint(predict(',
  );
  expect(rewritten).toContain('def by_logarithms(known, answers, asked):');
  expect(offered(rewritten)).toEqual([]);
});

test.each([
  ['another order of the arrays', 'predict(X_train, X_test, y_train)'],
  ['a default', 'predict(X_train, y_train, X_test=None)'],
  ['more parameters', 'predict(X_train, y_train, X_test, degree)'],
  ['other names', 'predict(model, y_train, X_test)'],
])('%s: the function is left as it is', (_, call) => {
  expect(offered(script.replace(/predict\(X_train.*\) ->/, `${call} ->`))).toEqual([]);
});
