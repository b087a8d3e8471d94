import { ancestorsOf, nodesOf, type SyntaxNode, textOf } from '../../python-source.ts';
import { appendedList, sidesOf, subscriptsOf, targetsOf } from './syntax.ts';

/** What the syntax of a nest of loops tells before it is worked through. */
export interface Nest {
  loop: SyntaxNode;
  /** All names that the loops give values to, those of their numbers included. */
  assigned: ReadonlySet<string>;
  /** Arrays and lists that are written into, with each place that does it. */
  written: ReadonlyMap<string, readonly Write[]>;
}

/** A statement that writes into an array or a list. */
export interface Write {
  /** The subscripts as they stand there; null for `append`. */
  subscripts: string | null;
  /** Each subscript without brackets. */
  parts: readonly string[];
  /** Only adds to what is there: the order of such statements does not count. */
  isSum: boolean;
}

export function readNest(loop: SyntaxNode, source: string): Nest {
  const targets = statementTargets(loop);
  const written = new Map<string, Write[]>();
  const add = (name: string, write: Write) => written.set(name, [...(written.get(name) ?? []), write]);
  for (const target of targets.filter(({ name }) => name !== 'VariableName')) {
    const { base, parts } = subscriptsOf(target, source);
    const text = textOf(source, base);
    add(text.split('.')[0] ?? '', {
      subscripts: textOf(source, target).slice(text.length),
      parts: parts.map((part) => part.map((node) => textOf(source, node)).join('')),
      isSum: /^\s*[-+]=/.test(source.slice(target.to)),
    });
  }
  for (const call of nodesOf(loop, 'CallExpression')) {
    const list = appendedList(source, call);
    if (list !== null) add(list, { subscripts: null, parts: [], isSum: false });
  }
  return { loop, assigned: assignedIn(loop, source), written };
}

/** What assignments and updates below a node write to. */
export function statementTargets(loop: SyntaxNode): SyntaxNode[] {
  return [
    ...nodesOf(loop, 'AssignStatement').flatMap((node) => sidesOf(node).targets),
    ...nodesOf(loop, 'UpdateStatement').flatMap(({ firstChild }) => firstChild ?? []),
  ];
}

/** All names that a loop and the loops in it give values to. */
export function assignedIn(loop: SyntaxNode, source: string): Set<string> {
  const names = statementTargets(loop).filter(({ name }) => name === 'VariableName');
  const numbers = nodesOf(loop, 'ForStatement').flatMap(targetsOf);
  return new Set([...names, ...numbers].map((name) => textOf(source, name)));
}

/** Whether what one statement writes may be written over by another one, so that the order of the rounds counts. */
export function mayOverwrite({ written, loop }: Nest, source: string): boolean {
  const isOneLoop = nodesOf(loop, 'ForStatement').length === 1;
  return [...written.values()].some((writes) =>
    writes.some((one, place) =>
      writes.slice(place + 1).some((other) => {
        if (one.subscripts === null || other.subscripts === null) return true;
        if (one.isSum && other.isSum) return false;
        // In a single loop, `a[i, j]` and `a[j, i]` are two lines that meet where both indices are the same.
        const isTurned = [...one.parts].reverse().join() === other.parts.join() && one.parts.length === 2;
        if (isTurned && (isOneLoop || isTriangle(loop, one.parts, source))) return false;
        return one.parts.join() !== other.parts.join() && !areApart(one, other);
      }),
    ),
  );
}

/** Whether the loop over one of two numbers begins or ends at the other one, so that `a[i, j]` and `a[j, i]` meet in no two rounds. */
export function isTriangle(loop: SyntaxNode, parts: readonly string[], source: string): boolean {
  const [one = '', other = ''] = parts;
  if (![one, other].every((part) => /^[A-Za-z_]\w*$/.test(part))) return false;
  return nodesOf(loop, 'ForStatement').some((each) => {
    const head = textOf(source, each).split(':')[0]?.replace(/\s+/g, ' ') ?? '';
    const [, number, first = ''] = /^for (\w+) in range\(([^,()]+)(?:, ?.+)?\)$/.exec(head) ?? [];
    const outer = number === one ? other : number === other ? one : null;
    if (outer === null) return false;
    return new RegExp(`^${outer}(?: ?\\+ ?1)?$`).test(first);
  });
}

/** `a[i, 0]` and `a[i, 1]`, or `a[2 * i]` and `a[2 * i + 1]`: never the same place. */
function areApart(one: Write, other: Write): boolean {
  if (one.parts.length !== other.parts.length) return false;
  return one.parts.some((part, place) => {
    const [left, right] = [part, other.parts[place] ?? ''].map((text) => {
      const [, number] = /^(\d+)$/.exec(text) ?? [];
      if (number !== undefined) return { factor: 0, name: '', rest: Number(number) };
      const [, factor, name, rest] = /^(\d+)\s*\*\s*(\w+)(?:\s*\+\s*(\d+))?$/.exec(text) ?? [];
      return factor === undefined ? null : { factor: Number(factor), name, rest: Number(rest ?? 0) };
    });
    if (left == null || right == null || left.factor !== right.factor || left.name !== right.name)
      return false;
    const distance = Math.abs(left.rest - right.rest);
    return distance > 0 && (left.factor === 0 || distance < left.factor);
  });
}

/** Whether a name that the loops give a value to, other than these, is used after them without being given another. */
export function isUsedLater({ loop, assigned }: Nest, source: string, others: ReadonlySet<string>): boolean {
  const ancestors = ancestorsOf(loop);
  const end = ancestors.findIndex(({ name }) => name === 'FunctionDefinition' || name === 'Script');
  const around = ancestors[end];
  if (around === undefined) return false;
  const names = nodesOf(around, 'VariableName');
  const after = names.filter(({ from }) => from >= loop.to);
  const isInLoop = ancestors.slice(0, end).some(({ name }) => /^(?:For|While)Statement$/.test(name));
  // After the last line of a loop around comes its first one.
  const next = isInLoop ? names.filter(({ from }) => from < loop.from) : [];
  const seen = new Set<string>();
  for (const node of [...after, ...next]) {
    const name = textOf(source, node);
    if (seen.has(name) || others.has(name) || !assigned.has(name)) continue;
    if (node.parent?.name === 'ArgList' && node.nextSibling?.name === 'AssignOp') continue;
    seen.add(name);
    if (!isGivenValue(node)) return true;
  }
  return false;
}

/** Whether a name is given a value without being used first. */
function isGivenValue(node: SyntaxNode): boolean {
  const { parent } = node;
  if (parent?.name === 'ForStatement' || /Comprehension/.test(parent?.name ?? '')) return true;
  if (parent?.name === 'TupleExpression' && parent.parent?.name === 'ForStatement') return true;
  if (parent?.name !== 'AssignStatement') return false;
  const { targets, values } = sidesOf(parent);
  return targets.some(({ from }) => from === node.from) && values.every((value) => value.from > node.from);
}
