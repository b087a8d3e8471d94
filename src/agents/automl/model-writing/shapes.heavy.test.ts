import { expect, test } from 'vitest';
import { printer } from '../../../../test/fixtures/parts-of-automl.ts';

/** How the scripts that automl writes see arrays: calls their parts. */
const printedBy = await printer();

/** Which share of the last of 600 rows, of two kinds, a ridge on columns tells that learns from the first 400. */
const told = `
def told(columns):
    columns = (columns - columns.mean(axis=0)) / (columns.std(axis=0) + 1e-9)
    known, penalty = columns[:400], 100 * np.eye(columns.shape[1])
    weights = np.linalg.solve(known.T @ known + penalty, known.T @ (2 * kinds[:400] - 1))
    return ((columns[400:] @ weights > 0) == kinds[400:]).mean()
`;

test('quantiles of points tell what is anywhere in a picture', () => {
  const found = printedBy(
    '',
    `from automl.shapes import spread_of
rng = np.random.default_rng(0)
plain = rng.normal(size=(40, 1, 16, 16))
spotted = plain.copy()
for each in spotted:
    row, column = rng.integers(0, 13, 2)
    each[0, row:row + 3, column:column + 3] += 5
told = [spread_of(each) for each in (plain, spotted)]
print(json.dumps([list(told[0].shape), int(np.max(np.abs(told[1].mean(0) - told[0].mean(0)) / told[0].std(0)) > 5)]))`,
  );
  expect(found).toEqual([[40, 90], 1]);
});

test('large arrays become at most about a thousand columns, whatever their shape', () => {
  const columnsOf = (...shape: number[]) =>
    printedBy(
      '',
      `from automl.arrays import as_numbers
from automl.data import Data
rows = np.arange(${shape.join('*')} * 3.0).reshape(3, ${shape.join(', ')})
print(json.dumps(len(as_numbers(Data([], np.zeros(0), []), rows).numbers)))`,
    );
  // Of sequences, points or blocks, five measures of each channel, and its swings in 16 bands.
  const whole = 5 + 16;
  expect([columnsOf(500, 6), columnsOf(6, 500), columnsOf(40, 9)]).toEqual([
    ...[(41 + whole) * 6, (41 + whole) * 6, (40 + whole) * 9],
  ]);
  expect([columnsOf(500, 2), columnsOf(4_000, 1)]).toEqual([(500 + whole) * 2, 250 + whole]);
  // Of pictures, the means of squares, what their edges and the patches of each quarter are like, and quantiles of their
  // points: of each channel, and of what nine filters make of them.
  const looks = (channels: number) => 1 + 8 * 16 + 16 + 8 + 4 * 2 * 64 + (channels + 9) * 9;
  expect([columnsOf(64, 64), columnsOf(3, 64, 64)]).toEqual([36 + looks(1), 48 + looks(3)]);
  expect([columnsOf(9, 9), columnsOf(7, 7), columnsOf(2, 3, 4, 5)]).toEqual([16 + looks(1), 49, 120]);
});

test('sequences that swing at another pace differ in other columns, wherever the swings begin', () => {
  const [slow, later, fast] = printedBy(
    '',
    `from automl.sequences import swings_of
steps = np.arange(200)
rows = np.stack([np.sin(0.3 * steps), np.sin(0.3 * steps + 2), np.sin(2.0 * steps)])
print(json.dumps(swings_of(rows).tolist()))`,
  ) as number[][];
  const strongest = (bands: number[] = []) => bands.indexOf(Math.max(...bands));
  expect(strongest(later)).toBe(strongest(slow));
  expect(strongest(fast)).toBeLessThan(strongest(slow));
});

test('rows whose neighbours are alike are sequences, others are not', () => {
  const told = printedBy(
    '',
    `from automl.sequences import are_sequences
rng = np.random.default_rng(0)
walk = rng.normal(size=(50, 40)).cumsum(axis=1)
print(json.dumps([are_sequences(walk), are_sequences((100 + 2 * walk).astype("u1")), are_sequences(rng.normal(size=(50, 40)))]))`,
  );
  expect(told).toEqual([true, true, false]);
});

test('the edges in a picture say the same of it when it is brighter, and tell stripes of different directions apart', () => {
  const [as, brighter, across, turned] = printedBy(
    '',
    `from automl.shapes import edges_in
lines = np.tile(np.sin(np.arange(24.0)), (24, 1))
pictures = np.stack([lines, 3 * lines + 2, lines.T, np.rot90(lines)])[:, None]
print(json.dumps(edges_in(pictures).tolist()))`,
  ) as number[][];
  const shares = ([, ...rest]: number[] = []) => rest.map((value) => Number(value.toFixed(5)));
  expect(shares(brighter)).toEqual(shares(as));
  expect(shares(across)).not.toEqual(shares(as));
  // Eight directions in sixteen cells; then the cells, and the directions, in the order of their edges.
  expect(shares(as)).toHaveLength(8 * 16 + 16 + 8);
  expect(shares(turned).slice(-24)).toEqual(shares(across).slice(-24));
  expect(shares(turned).slice(-24)).toEqual(shares(as).slice(-24));
});

test('patches tell marks apart wherever they are, which points alone do not', () => {
  const [patches, points, plain] = printedBy(
    '',
    `from automl.shapes import columns_of, patches_in
rng = np.random.default_rng(1)
pictures, kinds = rng.normal(0, 0.2, (600, 14, 14)), np.arange(600) % 2
across = np.zeros((5, 5))
across[2] = across[:, 2] = 1
for picture, kind in zip(pictures, kinds):
    top, left = rng.integers(0, 10, 2)
    picture[top : top + 5, left : left + 5] += (across, np.maximum(np.eye(5), np.eye(5)[::-1]))[kind]

${told}
print(json.dumps([told(patches_in(pictures[:, None])), told(pictures.reshape(600, -1)),
  bool(np.isfinite(columns_of(np.zeros((20, 12, 12), "u1"))).all())]))`,
  ) as [number, number, boolean];
  expect(patches).toBeGreaterThan(0.9);
  expect(points).toBeLessThan(0.7);
  expect(plain).toBe(true);
});
