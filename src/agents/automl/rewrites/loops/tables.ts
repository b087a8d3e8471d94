import {
  childrenOf,
  type Edit,
  nodesOf,
  parsePython,
  type SyntaxNode,
  splice,
  textOf,
} from '../../python-source.ts';
import { hasOwnLines, linesBefore } from '../python-edit.ts';
import { calledIn, givenTo, iteratedBy, targetsOf } from './syntax.ts';

/** A loop over the rows of a table of pandas. */
interface RowLoop {
  table: string;
  /** What its rounds count by. */
  number: string;
  /** The name of a row; null where rows are reached by their number. */
  row: string | null;
}

/** Attributes that are no columns. */
const others = 'iloc|loc|at|iat|values|shape|columns|index|apply|copy|sum|mean|to_numpy|append|empty|size|T';

/**
 * Loops over the rows of a table of pandas as loops over numbers, with the columns as arrays of numpy, and arithmetic that is
 * applied row by row as arithmetic of whole columns. Null where there is nothing of that.
 */
export function withColumns(source: string): string | null {
  const withoutApply = appliedToColumns(source);
  const top = parsePython(withoutApply);
  const edits: Edit[] = [];
  let end = 0;
  for (const loop of nodesOf(top, 'ForStatement')) {
    // Of a loop inside one that is changed, another round would be needed.
    if (loop.from < end || !hasOwnLines(withoutApply, loop)) continue;
    const changes = changesOf(withoutApply, loop);
    if (changes === null) continue;
    edits.push(...changes);
    end = loop.to;
  }
  const result = splice(withoutApply, edits);
  return result === source ? null : result;
}

function changesOf(source: string, loop: SyntaxNode): Edit[] | null {
  const found = rowLoop(source, loop);
  const body = loop.getChild('Body');
  if (found === null || body === null) return null;
  const { table, number, row } = found;
  const columns = new Map<string, string>();
  const edits: Edit[] = [];
  for (const node of nodesOf(body, 'VariableName')) {
    const name = textOf(source, node);
    if (name !== (row ?? table)) continue;
    if (row === null && /\blen\(\s*$/.test(source.slice(0, node.from))) continue;
    const place = columnAt(source.slice(node.from), name, row === null ? number : null);
    if (place === null || /^\s*(?:[-+*/%]|\/\/|\*\*)?=(?!=)/.test(source.slice(node.from + place.length)))
      return null;
    const array = `${table}_${place.column.replace(/\W/g, '_')}_column`;
    if (new RegExp(`\\b${array}\\b`).test(source)) return null;
    columns.set(place.column, array);
    edits.push({ from: node.from, to: node.from + place.length, text: `${array}[${number}]` });
  }
  const changesTable = row !== null && new RegExp(`\\b${table}\\b`).test(textOf(source, body));
  const [first] = columns.values();
  if (first === undefined || changesTable) return null;
  const lines = [...columns].map(
    ([column, array]) => `${array} = ${table}[${JSON.stringify(column)}].to_numpy()`,
  );
  const head = { from: loop.from, to: body.from, text: `for ${number} in range(len(${first}))` };
  return [linesBefore(source, loop, lines), ...(row === null ? [] : [head]), ...edits];
}

/** `for _, row in t.iterrows()`, `for row in t.itertuples()`, `for i in range(len(t))`, `for i in t.index`. */
function rowLoop(source: string, loop: SyntaxNode): RowLoop | null {
  const iterated = iteratedBy(loop);
  const body = loop.getChild('Body');
  const names = targetsOf(loop).map((target) => textOf(source, target));
  const [first = '', second] = names;
  if (iterated === undefined || body === null) return null;
  const [, table, way] = /^(\w+)\.(iterrows|itertuples)$/.exec(calledIn(source, iterated)) ?? [];
  const row = way === 'iterrows' ? second : way === 'itertuples' ? first : undefined;
  if (table !== undefined && row !== undefined && names.length === (way === 'iterrows' ? 2 : 1)) {
    const number = `${row}_number`;
    const isUsed = way === 'iterrows' && new RegExp(`\\b${first}\\b`).test(textOf(source, body));
    if (isUsed || new RegExp(`\\b${number}\\b`).test(source)) return null;
    return { table, number, row };
  }
  const [, counted, shaped, indexed] =
    /^range\(\s*(?:len\(\s*(\w+)\s*\)|(\w+)\.shape\[0\])\s*\)$|^(\w+)\.index$/.exec(
      textOf(source, iterated),
    ) ?? [];
  const owner = counted ?? shaped ?? indexed;
  if (owner === undefined || names.length !== 1 || givenTo(iterated).length > 1) return null;
  return { table: owner, number: first, row: null };
}

/** The column that an expression at the start of a text reads one entry of. `number`: where rows have no name. */
function columnAt(
  text: string,
  name: string,
  number: string | null,
): { column: string; length: number } | null {
  const column = `\\[\\s*(["'])([^"'\\n]+)\\1\\s*\\]`;
  const attribute = `\\.(?!(?:${others})\\b)([A-Za-z_]\\w*)(?!\\w|\\s*\\()`;
  const at = `\\[\\s*${number}\\s*\\]`;
  const ways =
    number === null
      ? [`${name}${column}`, `${name}${attribute}`]
      : [
          `${name}${column}(?:\\.iloc|\\.loc|\\.values|\\.to_numpy\\(\\))?${at}`,
          `${name}${attribute}(?:\\.iloc|\\.loc|\\.values)?${at}`,
          `${name}\\.iloc${at}${column}`,
          `${name}\\.iloc${at}${attribute}`,
          `${name}\\.(?:loc|at)\\[\\s*${number}\\s*,\\s*(["'])([^"'\\n]+)\\1\\s*\\]`,
        ];
  for (const way of ways) {
    const match = new RegExp(`^${way}`).exec(text);
    const found = match?.[2] ?? match?.[1];
    if (match !== null && found !== undefined) return { column: found, length: match[0].length };
  }
  return null;
}

/** `t.apply(lambda r: r["a"] * r["b"], axis=1)` and `t["a"].apply(lambda v: 2 * v)`, where it is plain arithmetic. */
function appliedToColumns(source: string): string {
  const edits = nodesOf(parsePython(source), 'CallExpression').flatMap((call): Edit[] => {
    const [, owner] =
      /^(\w+(?:\[\s*["'][^"'\n]+["']\s*\])?)\.(?:apply|map)$/.exec(calledIn(source, call)) ?? [];
    const [lambda, ...more] = givenTo(call);
    const keywords = more.map((node) => textOf(source, node)).join('');
    const isByRow = keywords === 'axis=1';
    const body = lambda?.name === 'LambdaExpression' ? lambda.lastChild : null;
    const parameters = lambda?.getChild('ParamList')?.getChildren('VariableName') ?? [];
    const [parameter] = parameters;
    if (owner === undefined || body === null || parameter === undefined || parameters.length > 1) return [];
    if (isByRow === owner.includes('[') || (more.length > 0 && !isByRow) || !isArithmetic(body)) return [];
    const name = textOf(source, parameter);
    const places = nodesOf(body, 'VariableName').filter((node) => textOf(source, node) === name);
    const inner = places.map((node): Edit | null => {
      const from = node.from - body.from;
      if (!isByRow) return { from, to: from + name.length, text: owner };
      const place = columnAt(source.slice(node.from), name, null);
      return place && { from, to: from + place.length, text: `${owner}[${JSON.stringify(place.column)}]` };
    });
    if (inner.length === 0 || inner.includes(null)) return [];
    const text = splice(
      textOf(source, body),
      inner.filter((edit) => edit !== null),
    );
    return [{ from: call.from, to: call.to, text: `(${text})` }];
  });
  return splice(source, edits);
}

/** Whether whole columns can stand for their entries. */
function isArithmetic(node: SyntaxNode): boolean {
  if (/^(?:Number|VariableName|String|ArithOp|PropertyName|[()[\].])$/.test(node.name)) return true;
  return (
    /^(?:Binary|Unary|Parenthesized|Member)Expression$/.test(node.name) &&
    childrenOf(node).every(isArithmetic)
  );
}
