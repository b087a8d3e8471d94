import { nodesOf, type SyntaxNode, textOf } from '../../python-source.ts';
import { fullNameOf } from '../python-edit.ts';
import type { Scope } from './scope.ts';
import { calledIn } from './syntax.ts';

/** Whether an expression is the same in every round, and can be worked out once without being noticed. */
export function isInvariant(node: SyntaxNode, scope: Scope): boolean {
  if (/^(?:Number|Boolean|None)$/.test(node.name)) return true;
  if (
    !/^(?:VariableName|MemberExpression|BinaryExpression|UnaryExpression|ParenthesizedExpression|CallExpression)$/.test(
      node.name,
    )
  )
    return false;
  const names = [
    ...(node.name === 'VariableName' ? [node] : []),
    ...nodesOf(node, 'VariableName').filter(({ from }) => node.name !== 'VariableName' || from !== node.from),
  ];
  if (names.some((name) => scope.read(textOf(scope.source, name)) !== null)) return false;
  for (const name of names.filter((each) => !isMeasured(each, scope.source))) {
    const text = textOf(scope.source, name);
    if (node.name !== 'MemberExpression') scope.checkRead(text, null);
  }
  if (node.name === 'MemberExpression' && names[0] !== undefined) {
    // The shape of an array that is written to stays as it is.
    if (!/\.(?:shape\[-?\d\]|size|ndim)$/.test(textOf(scope.source, node))) {
      const subscripts = /\[[\s\S]*$/.exec(textOf(scope.source, node))?.[0] ?? null;
      scope.checkRead(textOf(scope.source, names[0]), subscripts);
    }
  }
  return nodesOf(node, 'CallExpression').every((each) => {
    const callee =
      fullNameOf(scope.source, each.firstChild, scope.imports) ??
      textOf(scope.source, each.firstChild ?? each);
    return /^(?:math\.\w+|numpy\.(?!random)[\w.]+|len|int|float|abs|min|max|round|sum)$/.test(callee);
  });
}

/** `len(a)`, which stays as it is while entries are written. */
function isMeasured({ parent }: SyntaxNode, source: string): boolean {
  return parent?.name === 'ArgList' && parent.parent !== null && calledIn(source, parent.parent) === 'len';
}
