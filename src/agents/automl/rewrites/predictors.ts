import { childrenOf, nodesOf, parsePython, type SyntaxNode, textOf } from '../python-source.ts';
import { hasOwnLines, lineOf } from './python-edit.ts';
import type { Rewriter } from './rewrite.ts';
import { written } from './written.ts';

const known = '(?:train|known|observed|measured|seen|fit|support|context|old)';
const asked = '(?:test|new|query|asked|target|unseen|eval|pred|points|grid)';
/** Parameters of a function that learns from rows and their answers, and predicts the answers of others. */
const signature = [
  new RegExp(`^(?:x|xs|features?|inputs?)(?:_?${known})?$`, 'i'),
  new RegExp(`^(?:y|ys|answers?|outputs?|targets?|values?)(?:_?${known})?$`, 'i'),
  new RegExp(`^(?:x|xs|features?|inputs?)_?${asked}$`, 'i'),
];

/** Replaces a function that fits and predicts arrays by one that fits a law of positive quantities. */
export const rewritePredictors: Rewriter = (source) => {
  if (/\bby_logarithms\(/.test(source)) return [];
  return nodesOf(parsePython(source), 'FunctionDefinition').flatMap((definition) => {
    const parameters = parametersOf(source, definition);
    const isPredictor =
      parameters.length === signature.length &&
      signature.every((pattern, place) => pattern.test(parameters[place] ?? ''));
    const statements = isPredictor ? codeOf(definition) : [];
    const [first, last] = [statements[0], statements.at(-1)];
    if (first === undefined || last === undefined || !hasOwnLines(source, first)) return [];
    const name = textOf(source, definition.getChild('VariableName') ?? definition);
    return written(source, {
      name: 'numpy: lines in logarithms',
      change: `${name} (line ${lineOf(source, definition)}) fits lines in logarithms, of the form that predicts held-out points best.`,
      reason:
        'products of powers and exponentials of positive quantities are lines in logarithms, also outside of the data.',
      ...{ weight: 0.9, effort: 1.5, parts: ['logarithms'] },
      edits: [{ from: first.from, to: last.to, text: `return by_logarithms(${parameters.join(', ')})` }],
    });
  });
};

/** Names of the parameters; empty if one has a default or is not a plain name. */
function parametersOf(source: string, definition: SyntaxNode): string[] {
  const list = definition.getChild('ParamList');
  if (list === null || nodesOf(list, 'AssignOp').length > 0 || /[*/]/.test(textOf(source, list))) return [];
  return list.getChildren('VariableName').map((node) => textOf(source, node));
}

/** The statements of a function after its doc string. */
function codeOf(definition: SyntaxNode): SyntaxNode[] {
  const body = definition.getChild('Body');
  const statements =
    body === null ? [] : childrenOf(body).filter(({ name }) => !/^(?::|Comment)$/.test(name));
  const [first] = statements;
  return first?.name === 'ExpressionStatement' && first.firstChild?.name === 'String'
    ? statements.slice(1)
    : statements;
}
