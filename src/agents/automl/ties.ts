import { argumentOf, argumentsOf } from './arguments.ts';
import { type Layer, modelsOf } from './layers.ts';
import { calleeName, childrenOf, nodesOf, parsePython, type SyntaxNode, textOf } from './python-source.ts';

/** A place in the source. */
export interface Place {
  from: number;
  to: number;
}

/** Places that must contain the same number. */
interface Width {
  value: string;
  places: Place[];
  /** The data, or a part of the model that is not understood, requires exactly this number. */
  fixed: boolean;
}

/**
 * Inner widths of models: each group of places must contain the same number, since the output of one layer is the input
 * of the next. Sizes of inputs and outputs are not included.
 */
export function tiedWidths(source: string): Place[][] {
  const numbers = nodesOf(parsePython(source), 'Number');
  return modelsOf(source)
    .flatMap((layers) => widthsOf(source, layers))
    .filter(({ fixed, places }) => !fixed && places.length > 1)
    .map((width) => withOwnBlocks(source, width, numbers))
    .map(({ places }) => places.sort((left, right) => left.from - right.from));
}

function widthsOf(source: string, layers: readonly Layer[]): Width[] {
  const widths = new Set<Width>();
  let current: Width | null = null;
  for (const [place, layer] of layers.entries()) {
    // Embedding tables take no vectors; two of them in a row are mostly added up.
    const isTable = layer.kind.startsWith('Embedding');
    const into = factorOf(source, isTable ? layer.out : layer.into, current?.value);
    if (into !== null && current !== null) add(current, into);
    else if (current !== null) current.fixed = true;
    if (layer.keeps) continue;
    const value = wholeNumber(source, layer.out);
    const isSame: boolean = value !== null && into !== null && current?.value === value.text;
    if (!isSame) current = value === null ? null : newWidth(value, widths);
    else if (current !== null && value !== null) add(current, value.node);
    // A layer whose output has the size of its input may be bypassed, so that both must stay the same.
    const takes = wholeNumber(source, layer.into);
    if (current !== null && into === null && takes?.text === current.value) current.fixed = true;
    const groups = wholeNumber(source, argumentOf(source, layer.call, 'groups', 6));
    if (current !== null && groups !== null && groups.text !== '1') {
      if (groups.text === current.value) add(current, groups.node);
      else current.fixed = true;
    }
    if (current !== null && layers.slice(place + 1).every(({ keeps }) => keeps)) current.fixed = true;
  }
  return [...widths];
}

/** The script's own blocks between two layers of a width take the same number: `Block(64, heads=4)`. */
function withOwnBlocks(source: string, width: Width, numbers: readonly SyntaxNode[]): Width {
  const first = Math.min(...width.places.map(({ from }) => from));
  const last = Math.max(...width.places.map(({ from }) => from));
  for (const node of numbers) {
    const call = node.parent?.name === 'ArgList' ? node.parent.parent : null;
    const isBetween = node.from > first && node.from < last && textOf(source, node) === width.value;
    if (!isBetween || call?.firstChild?.name !== 'VariableName') continue;
    if (/^[A-Z]/.test(calleeName(source, call)) && argumentsOf(source, call)[0]?.value.from === node.from)
      add(width, node);
  }
  return width;
}

function newWidth({ node, text }: { node: SyntaxNode; text: string }, widths: Set<Width>): Width {
  const width = { value: text, places: [{ from: node.from, to: node.to }], fixed: false };
  widths.add(width);
  return width;
}

function add(width: Width, { from, to }: SyntaxNode): void {
  if (width.places.every((place) => place.from !== from)) width.places.push({ from, to });
}

function wholeNumber(source: string, node: SyntaxNode | null): { node: SyntaxNode; text: string } | null {
  if (node?.name !== 'Number') return null;
  const text = textOf(source, node);
  return /^[1-9]\d*$/.test(text) ? { node, text } : null;
}

/** The number itself, or the first factor of a product (`16 * 5 * 5`) that is this number; null if there is none. */
function factorOf(source: string, node: SyntaxNode | null, value: string | undefined): SyntaxNode | null {
  if (node === null || value === undefined) return null;
  if (node.name === 'Number') return textOf(source, node) === value ? node : null;
  if (node.name === 'ParenthesizedExpression') {
    const inner = childrenOf(node)[1];
    return inner === undefined ? null : factorOf(source, inner, value);
  }
  if (node.name !== 'BinaryExpression') return null;
  const [left, sign, right] = childrenOf(node);
  if (left === undefined || sign === undefined || right === undefined || textOf(source, sign) !== '*')
    return null;
  return factorOf(source, left, value) ?? factorOf(source, right, value);
}
