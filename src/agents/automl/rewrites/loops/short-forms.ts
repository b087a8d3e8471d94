import {
  ancestorsOf,
  childrenOf,
  nodesOf,
  parsePython,
  type SyntaxNode,
  splice,
  textOf,
} from '../../python-source.ts';
import { hasOwnLines, lineOf, linesBefore } from '../python-edit.ts';
import { inOtherNames } from './inlined.ts';
import { calledIn, givenTo, isNotAlways } from './syntax.ts';

/** A script whose sums and lists of one line are written as loops. */
export interface SpelledOut {
  source: string;
  forms: readonly Form[];
}

/** `sum(v * v for v in x)` or `[f(v) for v in x]`. */
export interface Form {
  text: string;
  /** Of the script as it was. */
  line: number;
  /** What the loops add to: nothing else in the script goes by this name. */
  name: string;
}

/** A form as it stands in the script. */
interface Found {
  kind: 'sum' | 'min' | 'max' | 'list';
  node: SyntaxNode;
  /** Its brackets with what stands in them. */
  list: SyntaxNode;
  statement: SyntaxNode;
}

/** One `for` or `if` inside of the brackets. */
interface Clause {
  kind: 'for' | 'if';
  targets: SyntaxNode[];
  /** What is gone through, or what must hold. */
  node: SyntaxNode;
}

const most = 20;

/**
 * Writes sums and lists of one line as loops before the statement that they stand in, so that the rules for loops apply to
 * them. `without`: texts that are left as they are; `np`: the script's name of numpy. Null where there is none, or where a
 * name is taken.
 */
export function spelledOut(source: string, without: ReadonlySet<string>, np: string): SpelledOut | null {
  if (/(?:\b|_in_)(?:sum|list|min|max)_\d+\b/.test(source)) return null;
  const forms: Form[] = [];
  const leftOut = new Set(without);
  let text = source;
  let added = 0;
  while (forms.length < most) {
    const found = firstForm(text, leftOut);
    if (found === null) break;
    const form = textOf(text, found.node);
    const name = `${found.kind}_${forms.length + 1}`;
    const loops = spelled(text, found, name, np);
    if (loops === null) {
      leftOut.add(form);
      continue;
    }
    forms.push({ text: form, line: Math.max(1, lineOf(text, found.node) - added), name });
    added += loops.lines.length;
    text = splice(text, [
      linesBefore(text, found.statement, loops.lines),
      { from: found.node.from, to: found.node.to, text: loops.value },
    ]);
  }
  return forms.length === 0 ? null : { source: text, forms };
}

function firstForm(source: string, without: ReadonlySet<string>): Found | null {
  const top = parsePython(source);
  const sums = nodesOf(top, 'CallExpression').flatMap((node) => {
    const list = node.getChild('ArgList');
    const kind = (['sum', 'min', 'max'] as const).find((each) => each === calledIn(source, node));
    const isForm = kind !== undefined && list !== null && list.getChild('for') !== null;
    return isForm ? [{ kind, node, list }] : [];
  });
  const lists = nodesOf(top, 'ArrayComprehensionExpression').map((node) => ({
    kind: 'list' as const,
    node,
    list: node,
  }));
  for (const { kind, node, list } of [...sums, ...lists].sort(
    (left, right) => left.node.from - right.node.from,
  )) {
    const text = textOf(source, node);
    if (without.has(text) || (text.includes('\n') && /[#"']/.test(text))) continue;
    const ancestors = ancestorsOf(node);
    const end = ancestors.findIndex(({ name }) =>
      /^(?:Assign|Update|Return|Expression)Statement$/.test(name),
    );
    const statement = ancestors[end];
    if (statement === undefined || !hasOwnLines(source, statement)) continue;
    if (ancestors.slice(0, end).some(isNotAlways)) continue;
    // A list that is made anew in every round is no array of all rounds.
    const isInLoop = ancestors.slice(end).some(({ name }) => /^(?:For|While)Statement$/.test(name));
    if (kind === 'list' && isInLoop) continue;
    return { kind, node, list, statement };
  }
  return null;
}

/** The loops in place of a form, and what it comes to after them; null for forms that are not taken apart. */
function spelled(
  source: string,
  { kind, list }: Found,
  name: string,
  np: string,
): { lines: string[]; value: string } | null {
  const parts = partsOf(list);
  if (parts === null) return null;
  const inner = kind === 'list' ? rowsOf(parts) : null;
  const { element, clauses } = inner ?? parts;
  const renamed = new Map<string, string>();
  const start = { sum: '0', list: '[]', min: 'float("inf")', max: '-float("inf")' };
  const lines = [`${name} = ${start[kind]}`];
  let depth = 0;
  const add = (line: string) => lines.push(`${'    '.repeat(depth)}${line}`);
  for (const [place, clause] of clauses.entries()) {
    if (clause.kind === 'if') add(`if ${renamedIn(source, clause.node, renamed)}:`);
    else if (!openFor(source, clause, { name, place, renamed, add })) return null;
    depth += 1;
  }
  const added = renamedIn(source, element, renamed);
  if (kind === 'list') add(`${name}.append(${added})`);
  else add(kind === 'sum' ? `${name} += ${added}` : `${name} = ${kind}(${name}, ${added})`);
  if (inner === null) return { lines, value: name };
  const rows = renamedIn(source, inner.through, new Map());
  return { lines, value: `${np}.reshape(${name}, (len(${rows}), -1)).tolist()` };
}

export interface Parts {
  element: SyntaxNode;
  clauses: readonly Clause[];
}

/** `[[f(v) for v in row] for row in table]` as one list over two loops; null for others. `through`: what has a row for each. */
function rowsOf({ element, clauses }: Parts): (Parts & { through: SyntaxNode }) | null {
  const inner = element.name === 'ArrayComprehensionExpression' ? partsOf(element) : null;
  const [outer] = clauses;
  const loops = [...clauses, ...(inner?.clauses ?? [])];
  if (inner === null || outer === undefined || loops.length > 2 || loops.some(({ kind }) => kind === 'if'))
    return null;
  return { element: inner.element, clauses: loops, through: outer.node };
}

/** The element and all clauses, in order; null where a clause is of another kind. */
export function partsOf(list: SyntaxNode): Parts | null {
  const [element, ...rest] = childrenOf(list).filter(({ name }) => !/^[[\]()]$/.test(name));
  if (element === undefined) return null;
  const clauses: Clause[] = [];
  let place = 0;
  while (place < rest.length) {
    const kind = rest[place]?.name;
    if (kind !== 'for' && kind !== 'if') return null;
    const end = kind === 'if' ? place : rest.findIndex(({ name }, at) => at > place && name === 'in');
    const node = rest[end + 1];
    if (end < 0 || node === undefined) return null;
    clauses.push({
      kind,
      node,
      targets: rest.slice(place + 1, end + (kind === 'if' ? 1 : 0)).filter(({ name }) => name !== ','),
    });
    place = end + 2;
  }
  return { element, clauses };
}

/** Opens a loop with names of its own; false for what is not taken apart. */
function openFor(
  source: string,
  { targets, node }: Clause,
  {
    name,
    place,
    renamed,
    add,
  }: { name: string; place: number; renamed: Map<string, string>; add: (line: string) => void },
): boolean {
  if (targets.some(({ name }) => name !== 'VariableName')) return false;
  const made = (what: string) => `${what}${place === 0 ? '' : place}_in_${name}`;
  /** A name for an array: what has none gets one. */
  const named = (array: SyntaxNode, what: string) => {
    const text = renamedIn(source, array, renamed);
    if (array.name === 'VariableName' && /^\w+$/.test(text)) return text;
    add(`${made(what)} = ${text}`);
    return made(what);
  };
  const together = calledIn(source, node) === 'zip' ? givenTo(node) : [];
  if (together.length > 0) {
    if (
      together.length !== targets.length ||
      together.some(({ name }) => !/^\w+Expression$|^VariableName$/.test(name))
    )
      return false;
    const rows = together.map((each, at) => named(each, `row${at}`));
    add(`for ${made('place')} in range(len(${rows[0]})):`);
    for (const [at, target] of targets.entries())
      renamed.set(textOf(source, target), `${rows[at]}[${made('place')}]`);
    return true;
  }
  const iterated = node.name === 'CallExpression' ? renamedIn(source, node, renamed) : named(node, 'row');
  for (const target of targets) renamed.set(textOf(source, target), made(textOf(source, target)));
  add(`for ${targets.map((target) => made(textOf(source, target))).join(', ')} in ${iterated}:`);
  return true;
}

/** In one line. */
function renamedIn(source: string, node: SyntaxNode, names: ReadonlyMap<string, string>): string {
  return inOtherNames(source, node, names).replace(/\s*\n\s*/g, ' ');
}
