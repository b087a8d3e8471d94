import {
  ancestorsOf,
  childrenOf,
  type Edit,
  nodesOf,
  parsePython,
  type SyntaxNode,
  splice,
  textOf,
} from '../../python-source.ts';
import { hasOwnLines, lineOf, linesInstead, statementOf } from '../python-edit.ts';
import type { Rewrite } from '../rewrite.ts';
import type { Estimator } from './estimators.ts';

interface OwnLoop {
  /** What the outermost loop iterates over. */
  range: SyntaxNode;
  /** The parts that are removed or rewritten. */
  edits: Edit[];
  call: SyntaxNode;
  model: string;
  from: number;
  to: number;
}

/**
 * A loop of the script's own around `model.partial_fit(x, y)`, if nothing in it needs the model to learn gradually: all
 * rows every time, or parts of them selected by a subscript. It then runs once, with one `model.fit(x, y)`.
 */
function findOwnLoop(source: string): OwnLoop | null {
  const top = parsePython(source);
  const calls = nodesOf(top, 'CallExpression').filter((node) =>
    /\.\s*partial_fit$/.test(textOf(source, node.firstChild ?? node)),
  );
  const [call] = calls;
  if (call === undefined || calls.length > 1) return null;
  const statement = statementOf(call);
  const loops = ancestorsOf(call).filter(({ name }) => /^(?:For|While)Statement$/.test(name));
  const outermost = loops.at(-1);
  const model = /^([\w.]+)\s*\.\s*partial_fit$/.exec(textOf(source, call.firstChild ?? call))?.[1];
  const given = childrenOf(call.getChild('ArgList') ?? call)
    .filter(({ name }) => !/^[(),]$/.test(name))
    .slice(0, 2);
  if (
    outermost === undefined ||
    loops.length > 2 ||
    loops.some(({ name }) => name !== 'ForStatement') ||
    model === undefined
  )
    return null;
  if (statement.firstChild?.from !== call.from || !hasOwnLines(source, statement) || given.length < 2)
    return null;
  const changing = namesGivenValues(source, outermost);
  const data = given.map((node) => wholeOf(source, node, changing));
  const iterated = childrenOf(outermost)[childrenOf(outermost).findIndex(({ name }) => name === 'in') + 1];
  const range =
    iterated !== undefined && /^(?:range|tqdm|trange)\b/.test(textOf(source, iterated))
      ? iterated
      : undefined;
  const batches = loops.length === 2 ? loops[0] : statement;
  if (range === undefined || batches === undefined || data.includes(null) || !hasOwnLines(source, batches))
    return null;
  const edits = [linesInstead(source, batches, [`${model}.fit(${data.join(', ')})`])];
  const found = { range, edits, call, model, from: outermost.from, to: outermost.to };
  // Its printed progress no longer exists.
  const progress = new RegExp(
    `\\b${model.replaceAll('.', '\\.')}\\s*\\.\\s*(?:loss_|n_iter_|t_|loss_curve_|best_loss_)\\b`,
  );
  if (!progress.test(source)) return found;
  for (const node of nodesOf(top, 'MemberExpression').filter((each) => progress.test(textOf(source, each)))) {
    const line = statementOf(node);
    const isPrint = line.name === 'ExpressionStatement' && /^print\s*\(/.test(textOf(source, line));
    if (!isPrint || !hasOwnLines(source, line) || line.from < outermost.from || line.to > outermost.to)
      return null;
    if (edits.every(({ from }) => from !== linesInstead(source, line, []).from))
      edits.push(linesInstead(source, line, ['pass']));
  }
  return found;
}

function namesGivenValues(source: string, loop: SyntaxNode): Set<string> {
  const targets = nodesOf(loop, 'AssignStatement').flatMap((node) =>
    childrenOf(node).slice(
      0,
      childrenOf(node).findIndex(({ name }) => name === 'AssignOp'),
    ),
  );
  const counted = nodesOf(loop, 'ForStatement').flatMap((node) =>
    childrenOf(node).slice(
      1,
      childrenOf(node).findIndex(({ name }) => name === 'in'),
    ),
  );
  return new Set(
    [...targets, ...counted]
      .flatMap((node) => [...(node.name === 'VariableName' ? [node] : []), ...nodesOf(node, 'VariableName')])
      .map((node) => textOf(source, node)),
  );
}

/** The rows that a part is taken from: `x` for `x[start:end]`; null if that is unclear. */
function wholeOf(source: string, node: SyntaxNode, changing: ReadonlySet<string>): string | null {
  const isPart = node.name === 'MemberExpression' && node.getChild('[') !== null;
  const whole =
    isPart && [...changing].some((name) => new RegExp(`\\b${name}\\b`).test(textOf(source, node)))
      ? node.firstChild
      : node;
  if (whole === null || !/^(?:VariableName|MemberExpression)$/.test(whole.name)) return null;
  const text = textOf(source, whole);
  return [...changing].some((name) => new RegExp(`\\b${name}\\b`).test(text)) ? null : text;
}

/** The script with other changes, and with its own loop replaced by one fit; null if that is not safe. */
export function withFitInstead(source: string, model: string | null, edits: readonly Edit[]): string | null {
  const loop = findOwnLoop(source);
  if (loop === null || loop.model !== model || edits.some(({ from, to }) => from < loop.to && to > loop.from))
    return null;
  const once = { from: loop.range.from, to: loop.range.to, text: 'range(1)' };
  return splice(source, [...edits, ...loop.edits, once]);
}

/** The same model, trained by scikit-learn's own loop, which stops automatically. */
export function rewriteOwnLoops(source: string, group: readonly Estimator[]): Rewrite[] {
  const [first, ...more] = group;
  if (first === undefined || more.length > 0 || !/\.\s*partial_fit\s*\(/.test(source)) return [];
  const loop = findOwnLoop(source);
  const changed = loop === null ? null : withFitInstead(source, first.variable, []);
  if (loop === null || changed === null) return [];
  const change = `the loop around partial_fit (line ${lineOf(source, loop.call)}) becomes one fit.`;
  const reason = 'fit shuffles the rows for every epoch and ends where the loss no longer falls.';
  return [
    {
      name: 'scikit-learn: fit instead of partial_fit',
      change,
      reason,
      weight: 0.55,
      effort: 4,
      source: changed,
    },
  ];
}
