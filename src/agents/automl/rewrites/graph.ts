import type { ArraySummary } from '../model-writing/arrays.ts';
import { nodesOf, parsePython, type SourceEdit, type SyntaxNode, textOf } from '../python-source.ts';
import { hasOwnLines, lineOf, linesAfter } from './python-edit.ts';
import type { Rewrite, Rewriter } from './rewrite.ts';
import { writtenWith } from './torch/script.ts';

/** A graph whose nodes are the rows of a feature array. */
interface Graph {
  features: ArraySummary;
  edges: ArraySummary;
  rows: number;
  width: number;
}

const reason =
  'what belongs to a row often shows in its neighbours: simple graph convolutions (Wu et al. 2019; Rossi et al. 2020)';

/** Averages features over the neighbours of each row, if the data contains the edges of a graph on the rows. */
export const rewriteGraph: Rewriter = (source, { arrays, packages }) => {
  if (!packages.includes('scipy') || !packages.includes('numpy') || /with_neighbours\(/.test(source))
    return [];
  const top = parsePython(source);
  return graphsOf(arrays).flatMap((graph) => {
    const statement = loadingOf(source, top, graph.features);
    const name = statement?.firstChild;
    if (statement === null || name == null) return [];
    const plan = { graph, statement, features: textOf(source, name), top };
    const labels = labelsOf(arrays, graph);
    const known = trainingRowsOf(arrays, graph);
    return [
      ...rewriteOf(source, { ...plan, title: 'graph: means over neighbours', weight: 0.95 }, null),
      ...(labels === null || known === null
        ? []
        : rewriteOf(source, { ...plan, title: 'graph: labels of neighbours', weight: 0.85 }, [
            labels,
            known,
          ])),
    ];
  });
};

interface Plan {
  graph: Graph;
  statement: SyntaxNode;
  features: string;
  title: string;
  weight: number;
  top: SyntaxNode;
}

/** @param shown the labels and the rows whose labels may be shown to their neighbours */
function rewriteOf(
  source: string,
  { graph, statement, features, title, weight, top }: Plan,
  shown: [labels: ArraySummary, known: ArraySummary] | null,
): Rewrite[] {
  const more = shown === null ? '' : `, labels=${loaded(shown[0])}, known=${loaded(shown[1])}`;
  const line = `${features} = with_neighbours(${features}, ${loaded(graph.edges)}${more})`;
  // The width of the features together with labels is known only when the script runs.
  const widths = widthEdits(source, top, graph);
  if (widths.length > 0 && shown !== null) return [];
  const shares = shown === null ? '' : ', and the classes of neighbours in the training part';
  return writtenWith(source, {
    name: title,
    change: `Beside the features in line ${lineOf(source, statement)} stand their means over two steps along ${graph.edges.path}${shares}.`,
    reason: `${reason}.`,
    ...{ weight, effort: 1.5, parts: ['graph'], imports: ['import numpy'] },
    edits: [linesAfter(source, statement, [line]), ...widths],
  });
}

function loaded({ path, key }: ArraySummary): string {
  return `numpy.load(${JSON.stringify(path)})${key === '' ? '' : `[${JSON.stringify(key)}]`}`;
}

/** Pairs of whole numbers that are all row numbers of a feature array. */
function graphsOf(arrays: readonly ArraySummary[]): Graph[] {
  const pairs = arrays.filter(
    ({ shape, least }) => shape.length === 2 && shape.includes(2) && least !== null,
  );
  return arrays.flatMap((features) => {
    const [rows = 0, width = 0, ...more] = features.shape;
    if (features.kind !== 'f' || more.length > 0 || width < 2) return [];
    // A graph that leaves many rows out, or whose numbers are small by chance, would be something else.
    const edges = pairs.find(
      ({ least, most, shape, path }) =>
        least !== null &&
        most !== null &&
        least >= 0 &&
        most < rows &&
        most >= rows / 2 &&
        Math.max(...shape) > rows / 4 &&
        path !== features.path,
    );
    return edges === undefined ? [] : [{ features, edges, rows, width }];
  });
}

/** The statement that assigns the features of a file to a variable; null if it is not that simple. */
function loadingOf(source: string, top: SyntaxNode, { path, key }: ArraySummary): SyntaxNode | null {
  const file = path.split('/').at(-1) ?? path;
  const wanted = key === '' ? [file, file.replace(/\.npy$/, '')] : [key];
  const found = nodesOf(top, 'AssignStatement').filter((statement) => {
    const [target, sign] = [statement.firstChild, statement.firstChild?.nextSibling];
    if (target?.name !== 'VariableName' || sign?.name !== 'AssignOp' || !hasOwnLines(source, statement))
      return false;
    return nodesOf(statement, 'String').some((text) => {
      const name =
        textOf(source, text)
          .replace(/^\w*["']|["']$/g, '')
          .split('/')
          .at(-1) ?? '';
      return wanted.includes(name);
    });
  });
  return found.length === 1 ? (found[0] ?? null) : null;
}

/** Sets the new width of the features where the script gives it as a number. */
function widthEdits(source: string, top: SyntaxNode, { width }: Graph): SourceEdit[] {
  return nodesOf(top, 'Number').flatMap((node) => {
    if (textOf(source, node) !== String(width)) return [];
    const before = source.slice(Math.max(0, node.from - 60), node.from);
    const isInput =
      /(?:\bLinear\(|\b(?:in_(?:dim|features|channels|size)|input_(?:dim|size|features)|(?:n|num)_?(?:in|inputs|feats?|features)|features|inputs)\s*(?::\s*int\s*)?=)\s*$/i;
    return isInput.test(before) ? [{ from: node.from, to: node.to, text: `${width} * 3` }] : [];
  });
}

/** One whole number for each row, in an array named like a target. */
function labelsOf(arrays: readonly ArraySummary[], { rows }: Graph): ArraySummary | null {
  const found = arrays.filter(
    (array) =>
      array.least !== null &&
      array.most !== null &&
      array.least >= -1 &&
      array.most < 2000 &&
      array.shape[0] === rows &&
      array.shape.slice(1).every((length) => length === 1) &&
      /(?:^|[^a-z])(?:labels?|targets?|class(?:es)?|y)(?:[^a-z]|$)/i.test(nameOf(array)),
  );
  return found.length === 1 ? (found[0] ?? null) : null;
}

/** The rows of the training part: their labels may be shown to other rows, those of validation rows may not. */
function trainingRowsOf(arrays: readonly ArraySummary[], { rows }: Graph): ArraySummary | null {
  const found = arrays.filter(
    (array) =>
      array.least !== null &&
      array.most !== null &&
      array.least >= 0 &&
      array.most < rows &&
      array.shape.length === 1 &&
      (array.shape[0] ?? rows) < rows &&
      /train/i.test(nameOf(array)) &&
      !/val|test|label|target|mask/i.test(nameOf(array)),
  );
  return found.length === 1 ? (found[0] ?? null) : null;
}

function nameOf({ path, key }: ArraySummary): string {
  return key === '' ? path.replace(/^.*\/|\.np[yz]$/g, '') : key;
}
