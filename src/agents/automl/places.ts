import { argumentsOf } from './arguments.ts';
import { ownParameterName } from './definitions.ts';
import { isEvaluationName, plainName, positionalName } from './priors.ts';
import {
  ancestorsOf,
  calleeName,
  childrenOf,
  type SyntaxNode,
  stringValue,
  textOf,
} from './python-source.ts';

/** The name that a number has by its position in the code, and the call that it is an argument of. */
export interface Named {
  name: string;
  callee: string;
  /** It is a variable, so its uses say more about it. */
  variable: boolean;
}

/** Calls whose numbers create, split, reshape or print data, or pace the program. */
const otherCalls =
  /^(?:print|format|round|range_?|arange|linspace|logspace|zeros|ones|full|eye|empty|reshape|view|permute|transpose|squeeze|unsqueeze|repeat|tile|rand\w*|normal|uniform|choice|permutation|shuffle|sample|train_test_split|split|array_split|\w*KFold|\w*ShuffleSplit|\w*_split|read_\w+|to_\w+|savetxt|loadtxt|genfromtxt|savez?|plot|figure|savefig|sleep|exit|pad|clip|percentile|quantile|head|tail|seed|manual_seed|set_seed|default_rng|RandomState|PRNGKey|isclose|allclose|where|get|insert|pop|Path|open|loadtxt|make_\w+)$/;

/** Whether a call decides which rows a version is trained and measured on. */
export function isSplittingCall(callee: string): boolean {
  return /split$|Fold$|^permutation$|^shuffle$|^sample$|^choice$/i.test(callee);
}

/** The name of a node by its position in the code: the variable, argument, parameter or key that receives it. */
export function nameOf(source: string, node: SyntaxNode): Named | null {
  const { parent } = node;
  switch (parent?.name) {
    case 'AssignStatement':
      return named(targetName(source, parent, node), '', true);
    case 'ArgList':
      return parent.parent?.name === 'CallExpression' ? argumentName(source, parent.parent, node) : null;
    case 'ParamList':
      return named(parameterName(source, node), '', true);
    case 'DictionaryExpression':
      return named(keyOf(source, node));
    case 'TupleExpression':
    case 'ArrayExpression':
      return layerSizeName(source, parent);
    default:
      return null;
  }
}

/** The key of a value in a dictionary, or in JSON. */
function keyOf(source: string, value: SyntaxNode): string | null {
  return value.prevSibling?.name === ':' ? stringValue(source, value.prevSibling.prevSibling) : null;
}

function named(name: string | null, callee = '', variable = false): Named | null {
  return name === null || name === '' ? null : { name, callee, variable };
}

/** `lr = 0.1`, `lr: float = 0.1`, `a, b = 1, 2`, `self.lr = 0.1`, `config['lr'] = 0.1`. */
function targetName(source: string, statement: SyntaxNode, value: SyntaxNode): string | null {
  const parts = childrenOf(statement).filter(({ name }) => name !== ',' && name !== 'TypeDef');
  const sign = parts.findLastIndex(({ name }) => name === 'AssignOp');
  const values = parts.slice(sign + 1);
  const targets = parts.slice(0, sign);
  const target = targets[values.findIndex(({ from }) => from === value.from)];
  if (targets.length !== values.length || target === undefined) return null;
  if (target.name === 'VariableName') return textOf(source, target);
  const last = target.name === 'MemberExpression' ? target.lastChild : null;
  return last?.name === 'PropertyName'
    ? textOf(source, last)
    : stringValue(source, last?.prevSibling ?? null);
}

function argumentName(source: string, call: SyntaxNode, node: SyntaxNode): Named | null {
  const callee = calleeName(source, call);
  const all = argumentsOf(source, call);
  const position = all.findIndex(({ value }) => value.from === node.from);
  const keyword = all[position]?.keyword ?? null;
  if (position < 0) return null;
  if (keyword === null && callee === 'range') return named(loopName(source, call, node));
  if (keyword === null) {
    const usual = positionalName(callee, position);
    // A 1 for a function of the script's own is mostly "once", or a flag.
    if (usual === null && textOf(source, node) === '1') return null;
    return named(usual ?? ownParameterName(source, call, callee, position), callee);
  }
  // Command-line parsers name their defaults in a string: add_argument('--lr', default=0.1).
  if (keyword === 'default' && /^(?:add_argument|option|argument|add_option)$/.test(callee)) {
    const flags = all.map(({ value }) => stringValue(source, value) ?? '');
    return named(flags.reduce((longest, flag) => (flag.length > longest.length ? flag : longest), ''));
  }
  // lr: float = field(default=0.1)
  if (keyword === 'default' && /^field$/i.test(callee) && call.parent?.name === 'AssignStatement')
    return named(targetName(source, call.parent, call));
  return named(keyword === 'p' && /^Dropout/.test(callee) ? 'dropout' : keyword, callee);
}

/** `for epoch in range(5)` and `for epoch in range(1, 6)` name their number of rounds by the loop's variable. */
function loopName(source: string, call: SyntaxNode, node: SyntaxNode): string | null {
  const loop = call.parent;
  const variable = loop?.name === 'ForStatement' ? loop.getChild('VariableName') : null;
  if (loop === null || variable === null || node.nextSibling?.name !== ')') return null;
  const name = plainName(textOf(source, variable));
  const trains = /\.backward\(|\.step\(|-=[^\n]{0,300}grad/.test(textOf(source, loop));
  const isRound =
    /^(?:epoch|iteration|iter|round)$/.test(name) || (trains && /^(?:step|it|t|i)?$/.test(name));
  return isRound ? 'epochs' : null;
}

function parameterName(source: string, node: SyntaxNode): string | null {
  if (node.prevSibling?.name !== 'AssignOp') return null;
  const before = node.prevSibling.prevSibling;
  const name = before?.name === 'TypeDef' ? before.prevSibling : before;
  return name?.name === 'VariableName' ? textOf(source, name) : null;
}

/** `hidden_layer_sizes=(100, 50)`: every number is the width of a layer. */
function layerSizeName(source: string, list: SyntaxNode): Named | null {
  if (/^(?:Tuple|Array)Expression$/.test(list.parent?.name ?? '')) return null;
  const owner = nameOf(source, list);
  return owner !== null && /(?:^|_)hidden/.test(plainName(owner.name)) ? owner : null;
}

/** Whether a number is in code that must not be changed: evaluation, a subscript, a string, the creation of data. */
export function isOutOfBounds(source: string, node: SyntaxNode): boolean {
  let insideConstructor = false;
  for (const ancestor of ancestorsOf(node)) {
    const isBefore = (part: SyntaxNode | null) => part !== null && part.from < node.from;
    if (/^(?:FormatString|FormatReplacement|Slice)$/.test(ancestor.name)) return true;
    if (ancestor.name === 'MemberExpression' && isBefore(ancestor.getChild('['))) return true;
    if (ancestor.name === 'FunctionDefinition') {
      const name = ancestor.getChild('VariableName');
      if (name !== null && isEvaluationName(textOf(source, name))) return true;
    }
    if (ancestor.name === 'DictionaryExpression' && isEvaluationName(keyOf(source, ancestor) ?? ''))
      return true;
    if (ancestor.name !== 'CallExpression' || insideConstructor) continue;
    const callee = calleeName(source, ancestor);
    const isLoop = callee === 'range' && node.parent?.parent?.from === ancestor.from;
    if (isLoop || !isBefore(ancestor.getChild('ArgList'))) continue;
    if (isEvaluationName(callee) || otherCalls.test(callee)) return true;
    // The arguments of a constructor shape the model, wherever the model is then used.
    insideConstructor = /^[A-Z]/.test(callee);
  }
  return false;
}
