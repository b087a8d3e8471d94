import { argumentsOf } from '../../arguments.ts';
import { moduleName } from '../../layers.ts';
import { ancestorsOf, childrenOf, nodesOf, type SyntaxNode, textOf } from '../../python-source.ts';
import { fullNameOf, statementOf } from '../python-edit.ts';
import type { Rewrite } from '../rewrite.ts';
import { calleeText, callsOf, inLines, type TorchScript, written } from './script.ts';

/** Ways in which a script, or a library, could use a whole output without visible code. */
const unseen =
  /\b(?:map|partial|vmap|submit|functional_call|getattr|setattr|Trainer|generate\w*\(\s*model)\b|hook|\bjit\b|onnx|torch\.save|\.modules\(|\.children\(|DataParallel/;

/** If only the last position of an output is read, the last layer gets only that one. */
export function useLastPosition(script: TorchScript): Rewrite[] {
  const { source, top } = script;
  if (unseen.test(source)) return [];
  const classes = nodesOf(top, 'ClassDefinition');
  const found = classes.flatMap((definition) => {
    const value = valueOfHead(script, definition);
    return value !== null && isReadAtLast(script, definition, classes) ? [value] : [];
  });
  return written(script, {
    name: 'torch: last position only',
    change: `The last layer ${found.length === 0 ? '' : inLines(source, found)} is given the last position alone.`,
    reason: 'only this position of its output is read, and a linear layer treats each one by itself.',
    weight: 0.88,
    effort: 1,
    edits: found.map((value) => {
      const text = textOf(source, value);
      const isPlain = /^(?:VariableName|CallExpression|MemberExpression)$/.test(value.name);
      return { from: value.from, to: value.to, text: `${isPlain ? text : `(${text})`}[:, -1:]` };
    }),
  });
}

function nameOf(source: string, definition: SyntaxNode): string {
  const name = definition.getChild('VariableName');
  return name === null ? '' : textOf(source, name);
}

/** The input of a linear layer whose output is all that `forward` returns; null for other classes. */
function valueOfHead(script: TorchScript, definition: SyntaxNode): SyntaxNode | null {
  const { source, imports } = script;
  const body = definition.getChild('Body');
  const parents = definition.getChild('ArgList');
  const isModule =
    parents !== null &&
    childrenOf(parents).some((each) => fullNameOf(source, each, imports) === 'torch.nn.Module');
  const forward = methodsOf(source, body).get('forward');
  const returned = forward === undefined ? [] : nodesOf(forward, 'ReturnStatement');
  const [only, ...others] = returned;
  const isLast = only !== undefined && only.from === forward?.getChild('Body')?.lastChild?.from;
  if (!isModule || only === undefined || others.length > 0 || !isLast) return null;
  const call = only.firstChild?.nextSibling ?? null;
  const [, head] =
    call?.name === 'CallExpression' ? (/^self\.(\w+)$/.exec(calleeText(source, call)) ?? []) : [];
  if (call === null || head === undefined || !isLinear(script, definition, head)) return null;
  const [argument, ...more] = argumentsOf(source, call);
  if (argument === undefined || argument.keyword !== null || more.length > 0) return null;
  // It is rewritten already, or not understood.
  const text = textOf(source, argument.value);
  return text.includes('#') || /\[([^[\]]*)\]$/.exec(text)?.[1]?.includes('-1') === true
    ? null
    : argument.value;
}

/** Functions directly in the body of a class. */
function methodsOf(source: string, body: SyntaxNode | null): Map<string, SyntaxNode> {
  const all = body === null ? [] : childrenOf(body);
  return new Map(
    all.flatMap((each) => {
      const method = each.name === 'DecoratedStatement' ? each.getChild('FunctionDefinition') : each;
      return method?.name === 'FunctionDefinition' ? [[nameOf(source, method), method]] : [];
    }),
  );
}

/** Whether an attribute is a linear layer of more than one input wherever it is assigned. */
function isLinear({ source, imports }: TorchScript, definition: SyntaxNode, attribute: string): boolean {
  const made = nodesOf(definition, 'AssignStatement').filter((statement) =>
    childrenOf(statement).some((each) => textOf(source, each) === `self.${attribute}`),
  );
  const elsewhere = new RegExp(`\\.${attribute}\\s*=[^=]`, 'g');
  if (made.length !== 1 || [...source.matchAll(elsewhere)].length !== 1) return false;
  return made.every((statement) => {
    const value = statement.lastChild;
    if (value?.name !== 'CallExpression' || moduleName(source, value, imports) !== 'Linear') return false;
    const [into] = argumentsOf(source, value);
    return into !== undefined && textOf(source, into.value) !== '1';
  });
}

/** Whether everything that could be a call of a model of a class is read at its last position only, at least once. */
function isReadAtLast(script: TorchScript, definition: SyntaxNode, classes: readonly SyntaxNode[]): boolean {
  const { source, calls, surroundings } = script;
  const name = nameOf(source, definition);
  const parts = partsOf(source, definition, classes);
  const mentions = (node: SyntaxNode) =>
    nodesOf(node, 'VariableName').filter((each) => textOf(source, each) === name);
  const isParent = classes.some((each) => {
    const list = each.getChild('ArgList');
    return list !== null && mentions(list).length > 0;
  });
  const asked = surroundings.task.submission.files.flatMap((file) => ('defines' in file ? file.defines : []));
  // A model that leaves the script may be asked for all positions.
  const isHandedIn =
    asked.includes(name) ||
    nodesOf(script.top, 'FunctionDefinition').some(
      (each) => asked.includes(nameOf(source, each)) && mentions(each).length > 0,
    );
  if (name === '' || isParent || isHandedIn || parts.some((part) => mentions(part).length > 0)) return false;
  // What a chain of layers passes on is not visible.
  const isChained = callsOf(script, /^torch\.nn\.Sequential$/).some(
    (call) => ![definition, ...parts].some(({ from, to }) => call.from > from && call.to <= to),
  );
  if (isChained) return false;
  const given = namesGiven(script);
  const suspects = calls.filter((call) => {
    const callee = calleeText(source, call);
    const isInside = call.from > definition.from && call.to <= definition.to;
    if (isInside) return /^self(?:\.forward|\.__call__)?$/.test(callee);
    if (parts.some((part) => call.from > part.from && call.to <= part.to)) return false;
    return couldBeModel(script, call, given);
  });
  return suspects.length > 0 && suspects.every((call) => isLastOnly(script, call));
}

/** The classes that a class is built from, directly or indirectly, without itself. */
function partsOf(source: string, definition: SyntaxNode, classes: readonly SyntaxNode[]): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  const visit = (node: SyntaxNode) => {
    const names = new Set(nodesOf(node, 'VariableName').map((each) => textOf(source, each)));
    for (const each of classes) {
      const isNew = each.from !== definition.from && !found.some(({ from }) => from === each.from);
      if (!isNew || !names.has(nameOf(source, each))) continue;
      found.push(each);
      visit(each);
    }
  };
  visit(definition);
  return found;
}

/** Names that the script assigns, so that they may hold a model: variables, attributes, fields, keywords. */
function namesGiven({ source, top, calls }: TorchScript): Set<string> {
  const statements = [...nodesOf(top, 'AssignStatement'), ...nodesOf(top, 'ForStatement')];
  const targets = statements.flatMap((statement) => {
    const children = childrenOf(statement);
    const end = children.findIndex(({ name }) => /^(?:AssignOp|in)$/.test(name));
    return (end < 0 ? children : children.slice(0, end)).filter(({ name }) => name !== 'TypeDef');
  });
  const parameters = nodesOf(top, 'ParamList').flatMap((list) => list.getChildren('VariableName'));
  // The keyword arguments of an object, if its constructor is named like a class.
  const fields = calls
    .filter((call) => /(?:^|\.)(?:[A-Z]\w*|_?replace)$/.test(calleeText(source, call)))
    .flatMap((call) => call.getChild('ArgList')?.getChildren('VariableName') ?? [])
    .filter((each) => each.nextSibling?.name === 'AssignOp');
  const names = [...targets, ...parameters, ...fields].flatMap((target) =>
    /^(?:VariableName|PropertyName)$/.test(target.name)
      ? [target]
      : [...nodesOf(target, 'VariableName'), ...nodesOf(target, 'PropertyName')],
  );
  return new Set(names.map((each) => textOf(source, each)));
}

const builtins = new Set(
  (
    'abs all any bool bytes dict enumerate filter float frozenset hasattr hash id input int isinstance issubclass iter ' +
    'len list max min next open ord pow print range repr reversed round set slice sorted str sum super tuple type zip'
  ).split(' '),
);

/** Whether the called object may be a model: it is not a function or class of the script, of Python or of a library. */
function couldBeModel(script: TorchScript, call: SyntaxNode, given: ReadonlySet<string>): boolean {
  const { source, top, imports } = script;
  const callee = call.firstChild;
  if (callee === null || fullNameOf(source, callee, imports) !== null) return false;
  if (callee.name === 'VariableName') {
    const name = textOf(source, callee);
    const defined = [...nodesOf(top, 'FunctionDefinition'), ...nodesOf(top, 'ClassDefinition')];
    return given.has(name) || !(builtins.has(name) || defined.some((each) => nameOf(source, each) === name));
  }
  const last = callee.name === 'MemberExpression' ? callee.lastChild : null;
  if (last?.name !== 'PropertyName') return true;
  const method = textOf(source, last);
  return /^(?:forward|__call__)$/.test(method) || given.has(method);
}

const lastSubscript = /^\[:,-1(?:,:|,\.\.\.)?,?\]$/;

/** Whether a node is followed by a subscript of the last position. */
function isSubscripted(source: string, node: SyntaxNode): boolean {
  const { parent } = node;
  if (parent?.name !== 'MemberExpression' || parent.firstChild?.from !== node.from) return false;
  if (parent.firstChild.to !== node.to) return false;
  return lastSubscript.test(source.slice(node.to, parent.to).replace(/\s/g, ''));
}

/** Whether an output is subscripted directly, or through a name that is read at its last position only. */
function isLastOnly({ source, top }: TorchScript, call: SyntaxNode): boolean {
  if (isSubscripted(source, call)) return true;
  const statement = call.parent;
  const [target, ...rest] = statement?.name === 'AssignStatement' ? childrenOf(statement) : [];
  const isPlain = rest.filter(({ name }) => name !== 'TypeDef').length === 2;
  if (statement === null || target?.name !== 'VariableName' || !isPlain) return false;
  const name = textOf(source, target);
  const around = ancestorsOf(call).find((each) => each.name === 'FunctionDefinition') ?? top;
  const next = childrenOf(statement.parent ?? top).find(
    (each) =>
      each.from >= statement.to &&
      each.name === 'AssignStatement' &&
      each.firstChild?.name === 'VariableName' &&
      textOf(source, each.firstChild) === name &&
      each.firstChild.nextSibling?.name === 'AssignOp',
  );
  const uses = nodesOf(around, 'VariableName').filter((each) => {
    const isSeen = next === undefined || (each.from >= statement.from && each.from < next.to);
    const isTarget = [statement, next].some((owner) => owner?.firstChild?.from === each.from);
    return textOf(source, each) === name && isSeen && !isTarget;
  });
  const between = source.slice(statement.to, next?.from ?? statement.to);
  if (/\b(?:continue|break|global|nonlocal)\b|\bdef\b|\blambda\b/.test(between)) return false;
  return statementOf(call).from === statement.from && uses.every((each) => isSubscripted(source, each));
}
