import {
  ancestorsOf,
  calleeName,
  childrenOf,
  nodesOf,
  type SyntaxNode,
  textOf,
} from '../../python-source.ts';
import { calledName, calleeText, type TorchScript } from './script.ts';

/** The place where an optimizer is created. */
export interface MadeOptimizer {
  call: SyntaxNode;
  /** PyTorch's name: `SGD`. */
  kind: string;
}

export function madeOptimizers(script: TorchScript): MadeOptimizer[] {
  return script.calls.flatMap((call) => {
    const [, module, kind] = /^torch\.optim\.(\w+\.)?([A-Z]\w*)$/.exec(calledName(script, call)) ?? [];
    return kind === undefined || /^(?:lr_scheduler|swa_utils)/.test(module ?? '') ? [] : [{ call, kind }];
  });
}

/** A step of an optimizer, and the loops around it. */
export interface OptimizerStep {
  /** The script's name for the optimizer there. */
  optimizer: string;
  statement: SyntaxNode;
  /** The `for` loops around it, the innermost first, including those around the function's only call. */
  loops: SyntaxNode[];
}

export function optimizerSteps(script: TorchScript): OptimizerStep[] {
  const { source, calls, modelNames } = script;
  const cleared = new Set(
    calls.flatMap((call) => {
      const [, name] = /^([\w.]+)\.zero_grad$/.exec(calleeText(source, call)) ?? [];
      return name === undefined || modelNames.has(name) ? [] : [name];
    }),
  );
  return calls.flatMap((call) => {
    const [, optimizer] = /^([\w.]+)\.step$/.exec(calleeText(source, call)) ?? [];
    if (optimizer === undefined || call.parent?.name !== 'ExpressionStatement') return [];
    const isOptimizer = cleared.has(optimizer) || (/opt/i.test(optimizer) && !/sched/i.test(optimizer));
    return isOptimizer ? [{ optimizer, statement: call.parent, loops: loopsAround(script, call) }] : [];
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

/** Calls of a function of the script from elsewhere; for a method, those through `self` if there are any. */
function callersOf({ source, calls }: TorchScript, definition: SyntaxNode): SyntaxNode[] {
  const node = definition.getChild('VariableName');
  const name = node === null ? '' : textOf(source, node);
  const outside = calls.filter(({ from }) => from < definition.from || from >= definition.to);
  const isMethod = definition.parent?.parent?.name === 'ClassDefinition';
  if (!isMethod) return outside.filter((call) => calleeText(source, call) === name);
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

/** Steps of learning-rate schedules: whole statements. */
export function schedulerSteps(script: TorchScript): SyntaxNode[] {
  const { source, calls } = script;
  const named = new Set(
    nodesOf(script.top, 'AssignStatement').flatMap((statement) => {
      const target = statement.firstChild;
      const makes = nodesOf(statement, 'CallExpression').some((call) =>
        /^torch\.optim\.(?:lr_scheduler|swa_utils)\.|^transformers\.get_/.test(calledName(script, call)),
      );
      return makes && target !== null ? [textOf(source, target)] : [];
    }),
  );
  return calls.flatMap((call) => {
    const [, name] = /^([\w.]+)\.step$/.exec(calleeText(source, call)) ?? [];
    if (name === undefined || call.parent?.name !== 'ExpressionStatement') return [];
    return named.has(name) || /sched/i.test(name) ? [call.parent] : [];
  });
}
