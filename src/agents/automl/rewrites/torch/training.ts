import { ancestorsOf, calleeName, childrenOf, type SyntaxNode, textOf } from '../../python-source.ts';
import { calleeText, type TorchScript } from './script.ts';

/**
 * For each step of an optimizer the `for` loops around it, the innermost first, including those around the only call of
 * its function.
 */
export function loopsAroundSteps(script: TorchScript): SyntaxNode[][] {
  const { source, calls } = script;
  const cleared = new Set(
    calls.flatMap((call) => /^([\w.]+)\.zero_grad$/.exec(calleeText(source, call))?.[1] ?? []),
  );
  return calls.flatMap((call) => {
    const name = /^([\w.]+)\.step$/.exec(calleeText(source, call))?.[1];
    if (name === undefined || call.parent?.name !== 'ExpressionStatement') return [];
    const isOptimizer = cleared.has(name) || (/opt/i.test(name) && !/sched/i.test(name));
    return isOptimizer ? [loopsAround(script, call)] : [];
  });
}

function loopsAround(script: TorchScript, node: SyntaxNode, seen: readonly number[] = []): SyntaxNode[] {
  const loops: SyntaxNode[] = [];
  for (const ancestor of ancestorsOf(node)) {
    if (ancestor.name === 'ForStatement') loops.push(ancestor);
    if (ancestor.name !== 'FunctionDefinition') continue;
    const [only, ...others] = callersOf(script, ancestor);
    if (only === undefined || others.length > 0 || seen.includes(ancestor.from)) return loops;
    return [...loops, ...loopsAround(script, only, [...seen, ancestor.from])];
  }
  return loops;
}

/** Calls of a function or method of the script from elsewhere; those through `self` if there are any. */
function callersOf({ source, calls }: TorchScript, definition: SyntaxNode): SyntaxNode[] {
  const node = definition.getChild('VariableName');
  const name = node === null ? '' : textOf(source, node);
  const outside = calls.filter(({ from }) => from < definition.from || from >= definition.to);
  const own = outside.filter((call) => calleeText(source, call) === `self.${name}`);
  return own.length > 0 ? own : outside.filter((call) => calleeName(source, call) === name);
}

/** The loops around a step that belong to one training: batches first, then epochs. */
export function coursesOf(source: string, loops: readonly SyntaxNode[]): SyntaxNode[] {
  // Loops over folds or seeds repeat the training.
  return loops.filter((loop, place) => {
    const head = headOf(source, loop);
    return !/fold|seed|trial|repeat/i.test(head) && (place === 0 || !/\.split\(/.test(head));
  });
}

/** `for epoch in range(3)`. */
export function headOf(source: string, loop: SyntaxNode): string {
  return source.slice(loop.from, loop.getChild('Body')?.from ?? loop.to);
}

/** The iterable of a `for` loop. */
export function iterableOf(loop: SyntaxNode): SyntaxNode | null {
  const children = childrenOf(loop);
  return children[children.findIndex(({ name }) => name === 'in') + 1] ?? null;
}
