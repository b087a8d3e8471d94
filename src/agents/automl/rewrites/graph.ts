import type { ArraySummary } from '../model-writing/arrays.ts';
import { nodesOf, parsePython, type SyntaxNode, textOf } from '../python-source.ts';
import { hasOwnLines, lineAfter, lineOf } from './python-edit.ts';
import type { Rewriter } from './rewrite.ts';
import { written } from './written.ts';

/** Averages features over the neighbours of each row, if the data contains the edges of a graph on the rows. */
export const rewriteGraph: Rewriter = (source, { arrays, packages }) => {
  if (!packages.includes('scipy') || !packages.includes('numpy') || /with_neighbours\(/.test(source))
    return [];
  return arrays.flatMap((features) => {
    const edges = edgesOf(arrays, features);
    const statement = edges === undefined ? null : loadingOf(source, features);
    const target = statement?.firstChild;
    if (edges === undefined || statement === null || target == null) return [];
    const [rows = 0] = features.shape;
    const labels = only(arrays.filter((array) => areLabels(array, rows)));
    const known = only(arrays.filter((array) => areTrainingRows(array, rows)));
    const more =
      labels === null || known === null ? null : `, labels=${loaded(labels)}, known=${loaded(known)}`;
    const name = textOf(source, target);
    const offers = [
      { title: 'means over neighbours', weight: 0.95, given: '', shares: '' },
      {
        title: 'labels of neighbours',
        weight: 0.85,
        given: more,
        shares: ', and the classes of those known',
      },
    ];
    return offers.flatMap(({ title, weight, given, shares }) =>
      given === null
        ? []
        : written(source, {
            ...{ name: `graph: ${title}`, weight, effort: 1.5, parts: ['graph'], lines: ['import numpy'] },
            change: `Beside the features in line ${lineOf(source, statement)} stand their means over two steps along ${edges.path}${shares}.`,
            reason:
              'what belongs to a row often shows in its neighbours: simple graph convolutions (Wu et al. 2019; Rossi et al. 2020).',
            edits: [
              lineAfter(source, statement, `${name} = with_neighbours(${name}, ${loaded(edges)}${given})`),
            ],
          }),
    );
  });
};

function loaded({ path, key }: ArraySummary): string {
  return `numpy.load(${JSON.stringify(path)})${key === '' ? '' : `[${JSON.stringify(key)}]`}`;
}

/** The only one of its kind. */
function only<Item>(items: readonly Item[]): Item | null {
  return items.length === 1 ? (items[0] ?? null) : null;
}

/** Pairs of whole numbers that are all row numbers of a feature array. */
function edgesOf(arrays: readonly ArraySummary[], features: ArraySummary): ArraySummary | undefined {
  const [rows = 0, width = 0, ...others] = features.shape;
  if (features.kind !== 'f' || others.length > 0 || width < 2) return undefined;
  // A graph that leaves many rows out, or whose numbers are small by chance, would be something else.
  return arrays.find(
    (pairs) =>
      pairs.shape.length === 2 &&
      pairs.shape.includes(2) &&
      isWithin(pairs, 0, rows) &&
      !isWithin(pairs, 0, rows / 2) &&
      Math.max(...pairs.shape) > rows / 4,
  );
}

/** Whether all numbers of an array are whole, at least `least` and below `end`. */
function isWithin({ least, most }: ArraySummary, first: number, end: number): boolean {
  return least !== null && most !== null && least >= first && most < end;
}

/** The statement that assigns the features of a file to a variable; null if it is not that simple. */
function loadingOf(source: string, { path, key }: ArraySummary): SyntaxNode | null {
  const file = path.split('/').at(-1) ?? path;
  const wanted = key === '' ? [file, file.replace(/\.npy$/, '')] : [key];
  const statements = nodesOf(parsePython(source), 'AssignStatement').filter((statement) => {
    const target = statement.firstChild;
    return (
      target?.name === 'VariableName' &&
      target.nextSibling?.name === 'AssignOp' &&
      hasOwnLines(source, statement) &&
      nodesOf(statement, 'String').some((text) =>
        wanted.includes(textOf(source, text).replace(/^\w*["'](?:.*\/)?|["']$/g, '')),
      )
    );
  });
  return only(statements);
}

/** One whole number for each row, in an array named like a target. */
function areLabels(array: ArraySummary, rows: number): boolean {
  const [length, ...others] = array.shape;
  return (
    isWithin(array, -1, 2000) &&
    length === rows &&
    others.every((each) => each === 1) &&
    /(?:^|[^a-z])(?:labels?|targets?|class(?:es)?|y)(?:[^a-z]|$)/i.test(nameOf(array))
  );
}

/** The rows of the training part: their labels may be shown to other rows, those of validation rows may not. */
function areTrainingRows(array: ArraySummary, rows: number): boolean {
  return (
    isWithin(array, 0, rows) &&
    array.shape.length === 1 &&
    (array.shape[0] ?? rows) < rows &&
    /train/i.test(nameOf(array)) &&
    !/val|test|label|target|mask/i.test(nameOf(array))
  );
}

function nameOf({ path, key }: ArraySummary): string {
  return key === '' ? path.replace(/^.*\/|\.np[yz]$/g, '') : key;
}
