import { ancestorsOf, nodesOf, type SyntaxNode, textOf } from '../../python-source.ts';
import { appendedList, sidesOf, subscriptsOf, targetsOf } from './syntax.ts';

/** What the syntax of a nest of loops tells before it is worked through. */
export interface Nest {
  loop: SyntaxNode;
  /** All names that the loops give values to, those of their numbers included. */
  assigned: ReadonlySet<string>;
  /** Arrays and lists that are written into, with the subscripts as they stand there. */
  written: ReadonlyMap<string, ReadonlySet<string>>;
}

export function readNest(loop: SyntaxNode, source: string): Nest {
  const loops = nodesOf(loop, 'ForStatement').flatMap(targetsOf);
  const targets = [
    ...nodesOf(loop, 'AssignStatement').flatMap((node) => sidesOf(node).targets),
    ...nodesOf(loop, 'UpdateStatement').flatMap(({ firstChild }) => firstChild ?? []),
  ];
  const written = new Map<string, Set<string>>();
  for (const target of targets.filter(({ name }) => name !== 'VariableName')) {
    const base = textOf(source, subscriptsOf(target, source).base);
    const name = base.split('.')[0] ?? '';
    written.set(name, (written.get(name) ?? new Set()).add(textOf(source, target).slice(base.length)));
  }
  for (const call of nodesOf(loop, 'CallExpression')) {
    const list = appendedList(source, call);
    if (list !== null) written.set(list, new Set());
  }
  const names = [...loops, ...targets.filter(({ name }) => name === 'VariableName')];
  return { loop, assigned: new Set(names.map((name) => textOf(source, name))), written };
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
