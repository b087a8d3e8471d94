import { ancestorsOf, childrenOf, nodesOf, type SyntaxNode, textOf } from './python-source.ts';

/**
 * The name that a script's own function or class gives to the argument at a position from 0: `width` for the second one
 * of `Settings(2, 128)`, where `Settings` is a dataclass, a named tuple or a class with an `__init__`. Null if the
 * script does not define it.
 */
export function ownParameterName(
  source: string,
  call: SyntaxNode,
  callee: string,
  position: number,
): string | null {
  const top = ancestorsOf(call).at(-1) ?? call;
  const functionIn = (within: SyntaxNode, name: string) =>
    nodesOf(within, 'FunctionDefinition').find((node) => nameIn(source, node) === name);
  const made = nodesOf(top, 'ClassDefinition').find((node) => nameIn(source, node) === callee);
  const called = made === undefined ? functionIn(top, callee) : functionIn(made, '__init__');
  if (called !== undefined) return parameterNames(source, called)[position] ?? null;
  const field = childrenOf(made?.getChild('Body') ?? top).filter(isField)[position];
  return made === undefined || field === undefined ? null : nameIn(source, field);
}

/** `width: int` in a dataclass or a named tuple. */
function isField(node: SyntaxNode): boolean {
  return node.name === 'AssignStatement' && node.getChild('TypeDef') !== null;
}

/** Names of the parameters that can be given by position, without `self`. */
function parameterNames(source: string, definition: SyntaxNode): string[] {
  const parameters = childrenOf(definition.getChild('ParamList') ?? definition);
  const stars = parameters.findIndex(({ name }) => name === '*' || name === '**');
  return parameters
    .slice(0, stars < 0 ? undefined : stars)
    .filter((node) => node.name === 'VariableName' && node.prevSibling?.name !== 'AssignOp')
    .map((node) => textOf(source, node))
    .filter((name) => name !== 'self');
}

function nameIn(source: string, node: SyntaxNode): string {
  const name = node.getChild('VariableName');
  return name === null ? '' : textOf(source, name);
}
