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
  const named = (kind: string) => nodesOf(top, kind).find((node) => nameIn(source, node) === callee) ?? null;
  const definition = named('FunctionDefinition') ?? named('ClassDefinition');
  if (definition === null) return null;
  return parametersOf(source, definition)[position] ?? null;
}

/** Names of the parameters that can be given by position, without `self`. */
function parametersOf(source: string, definition: SyntaxNode): string[] {
  if (definition.name === 'FunctionDefinition') return parameterNames(source, definition);
  const statements = childrenOf(definition.getChild('Body') ?? definition);
  const maker = statements.find(
    (node) => node.name === 'FunctionDefinition' && nameIn(source, node) === '__init__',
  );
  if (maker !== undefined) return parameterNames(source, maker);
  return statements.flatMap((node) => {
    const isField = node.name === 'AssignStatement' && node.getChild('TypeDef') !== null;
    return isField ? [nameIn(source, node)] : [];
  });
}

function parameterNames(source: string, definition: SyntaxNode): string[] {
  const names: string[] = [];
  for (const node of childrenOf(definition.getChild('ParamList') ?? definition)) {
    if (node.name === '*' || node.name === '**') break;
    const isName = node.name === 'VariableName' && node.prevSibling?.name !== 'AssignOp';
    if (isName) names.push(textOf(source, node));
  }
  return names[0] === 'self' ? names.slice(1) : names;
}

function nameIn(source: string, node: SyntaxNode): string {
  const name = node.getChild('VariableName');
  return name === null ? '' : textOf(source, name);
}
