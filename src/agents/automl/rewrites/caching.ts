import { isTimeLike } from '../../search/metric-names.ts';
import { childrenOf, nodesOf, parsePython, splice, syntaxErrors, textOf } from '../python-source.ts';
import { lineOf, linesBefore, withImport } from './python-edit.ts';
import type { Rewrite, Rewriter } from './rewrite.ts';

/**
 * Functions that call themselves more than once work the same things out again and again: their results are remembered.
 * Offered only where a time is measured. Functions whose arguments cannot be remembered fail, and are put back.
 */
export const rewriteCaching: Rewriter = (source, { task }) => {
  if (!isTimeLike(task.metric) || syntaxErrors(source) > 0) return [];
  const top = parsePython(source);
  return top.getChildren('FunctionDefinition').flatMap((definition): Rewrite[] => {
    const [name] = definition.getChildren('VariableName').map((node) => textOf(source, node));
    const list = definition.getChild('ParamList');
    const body = definition.getChild('Body');
    if (name === undefined || list === null || body === null) return [];
    const parameters = childrenOf(list).filter((node) => node.name === 'VariableName');
    const calls = nodesOf(body, 'CallExpression').filter(
      ({ firstChild }) => firstChild?.name === 'VariableName' && textOf(source, firstChild) === name,
    );
    const hasEffects = /\b(?:global|nonlocal|yield|print)\b/.test(textOf(source, body));
    if (parameters.length === 0 || calls.length < 2 || hasEffects) return [];
    const decorated = splice(source, [
      linesBefore(source, definition, ['@functools.lru_cache(maxsize=None)']),
    ]);
    return [
      {
        name: 'python: remembered results',
        change: `${name} (line ${lineOf(source, definition)}) remembers what it gave back for which arguments.`,
        reason: 'a function that calls itself several times works the same things out again and again.',
        weight: 0.9,
        effort: 0.3,
        source: withImport(decorated, 'import functools'),
      },
    ];
  });
};
