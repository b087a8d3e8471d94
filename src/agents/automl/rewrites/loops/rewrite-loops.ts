import { isTimeLike } from '../../../search/metric-names.ts';
import {
  ancestorsOf,
  type Edit,
  nodesOf,
  parsePython,
  type SyntaxNode,
  splice,
  syntaxErrors,
  textOf,
} from '../../python-source.ts';
import { hasOwnLines, importedNames, lineOf, linesInstead, withImport } from '../python-edit.ts';
import type { Rewrite, Rewriter } from '../rewrite.ts';
import { withInlinedCalls } from './inlined.ts';
import { kindsOf } from './kinds.ts';
import { arraysOf, ranksOf } from './ranks.ts';
import type { Script } from './rounds.ts';
import { spelledOut } from './short-forms.ts';
import { sidesOf } from './syntax.ts';
import { withColumns } from './tables.ts';
import { vectorised } from './vectorise.ts';

/** A loop and what can stand in its place. */
interface Replacement {
  loop: SyntaxNode;
  lines: string[];
  /** Loops that it is inside of. */
  depth: number;
}

const mostOffers = 8;
const reason =
  'numpy works through whole arrays in compiled code, while every round of a Python loop is interpreted.';

const rowReason = 'pandas makes a new object of every row, while a column is an array already.';

/**
 * Loops over numbers are written as expressions of whole numpy arrays, where the syntax shows that no round needs what
 * another one leaves behind. Offered only where speed is what counts, since nothing else changes.
 */
export const rewriteLoops: Rewriter = (source, { task, packages }) => {
  const isSpeed = isTimeLike(task.metric) || isThroughput(task.metric.name, task.metric.unit);
  const hasNumpy = packages.includes('numpy') || /^\s*(?:import|from) numpy\b/m.test(source);
  if (!isSpeed || !hasNumpy || syntaxErrors(source) > 0) return [];
  return [...offersWithColumns(source), ...offersWithCalls(source), ...wholeOffers(source)].slice(
    0,
    mostOffers,
  );
};

/** Columns of tables as arrays, with loops over them as whole arrays where that can be, and alone. */
function offersWithColumns(source: string): Rewrite[] {
  const columns = withColumns(source);
  if (columns === null) return [];
  const [whole] = [...offersWithCalls(columns), ...wholeOffers(columns)];
  const name = 'numpy: columns instead of rows of a table';
  const change = 'tables are read by columns instead of row by row';
  const alone = { name, reason: rowReason, effort: 0.5, weight: 0.9, source: columns };
  return [
    ...(whole === undefined ? [] : [{ ...whole, weight: 1, change: `${change}, and ${whole.change}` }]),
    { ...alone, change: `${change}.` },
  ];
}

/** With functions of the script written out in the loops that call them. */
function offersWithCalls(source: string): Rewrite[] {
  const inlined = withInlinedCalls(source);
  const [whole] = inlined === null ? [] : wholeOffers(inlined);
  if (whole === undefined) return [];
  const change = `functions are written out in the loops that call them, and ${whole.change}`;
  return [{ ...whole, weight: 1, change }];
}

function wholeOffers(source: string): Rewrite[] {
  return [...offersWithShortForms(source), ...offersOf(source)];
}

/** Everything at once, with those sums and lists of one line of which no loop is left then. */
function offersWithShortForms(source: string): Rewrite[] {
  const without = new Set<string>();
  const np = nameOfNumpy(importedNames(source));
  if (np === undefined && /\bnp\b/.test(source)) return [];
  const script = np === undefined ? withImport(source, 'import numpy as np') : source;
  const added = script.split('\n').length - source.split('\n').length;
  for (let turn = 0; turn < 4; turn += 1) {
    const spelled = spelledOut(script, without, np ?? 'np');
    const [offer] = spelled === null ? [] : offersOf(withInlinedCalls(spelled.source) ?? spelled.source);
    if (spelled === null || offer === undefined) return [];
    const left = spelled.forms.filter(({ name }) =>
      new RegExp(`^ *for .*_in_${name}\\b.* in `, 'm').test(offer.source),
    );
    if (left.length === 0) {
      const lines = [...new Set(spelled.forms.map(({ line }) => line - added))]
        .sort((left, right) => left - right)
        .map((line) => `line ${line}`)
        .join(', ');
      const change = `what is gone through in ${lines}, and the loops around it, as expressions of whole arrays.`;
      return [{ ...offer, weight: 1, change }];
    }
    for (const { text } of left) without.add(text);
  }
  return [];
}

function offersOf(source: string): Rewrite[] {
  const top = parsePython(source);
  const imports = importedNames(source);
  const np = nameOfNumpy(imports) ?? 'np';
  if (!imports.has(np) && new RegExp(`\\b${np}\\b`).test(source)) return [];
  if (givesOtherMeaning(source, top, np)) return [];
  const ranks = ranksOf(source, top, imports);
  const script: Script = {
    ...{ source, np, imports, ranks, kinds: kindsOf(source, top, imports) },
    arrays: arraysOf(source, top, ranks),
  };
  const found = nodesOf(top, 'ForStatement').flatMap((loop): Replacement[] => {
    const lines = hasOwnLines(source, loop) ? vectorised(loop, script) : null;
    const depth = ancestorsOf(loop).filter(({ name }) => name === 'ForStatement').length;
    return lines === null ? [] : [{ loop, lines, depth }];
  });
  const outermost = found.filter(({ loop }) => !found.some((other) => isInside(loop, other.loop)));
  // One step further in: less at a time, which may suit memory and caches better.
  const inner = found.filter(({ loop }) => found.filter((other) => isInside(loop, other.loop)).length === 1);
  const offers = [
    ...(outermost.length > 1 ? [{ parts: outermost, weight: 1 }] : []),
    ...outermost.map((part) => ({ parts: [part], weight: outermost.length > 1 ? 0.85 : 0.95 })),
    ...(inner.length > 0 ? [{ parts: withoutOverlap(inner), weight: 0.6 }] : []),
  ];
  return offers.flatMap(({ parts, weight }) => {
    const rewritten = written(script, parts);
    return rewritten === null ? [] : [{ ...offered(script, parts), weight, source: rewritten }];
  });
}

function nameOfNumpy(imports: ReadonlyMap<string, string>): string | undefined {
  return [...imports].find(([, full]) => full === 'numpy')?.[0];
}

/** Whether a script gives a name that the rules go by a meaning of its own. */
function givesOtherMeaning(source: string, top: SyntaxNode, np: string): boolean {
  const names = [
    ...nodesOf(top, 'FunctionDefinition').flatMap((node) => [
      ...node.getChildren('VariableName'),
      ...(node.getChild('ParamList')?.getChildren('VariableName') ?? []),
    ]),
    ...nodesOf(top, 'AssignStatement').flatMap((node) => sidesOf(node).targets),
  ];
  const meant = new RegExp(`^(?:${np}|math|abs|bool|enumerate|float|int|len|max|min|range|round|sum|zip)$`);
  return names.some((node) => meant.test(textOf(source, node)));
}

function isThroughput(name: string, unit: string): boolean {
  return /\b(?:throughput|speed-?up|fps|flop\/?s|per (?:second|minute)|\w+\/s)\b/i.test(`${name} ${unit}`);
}

function isInside(node: SyntaxNode, around: SyntaxNode): boolean {
  return node.from > around.from && node.to <= around.to;
}

function withoutOverlap(parts: readonly Replacement[]): Replacement[] {
  return parts.filter(({ loop }) => !parts.some((other) => isInside(loop, other.loop)));
}

function written(script: Script, parts: readonly Replacement[]): string | null {
  const edits: Edit[] = parts.map(({ loop, lines }) => linesInstead(script.source, loop, lines));
  const result = withImport(
    splice(script.source, edits),
    `import numpy as ${script.np}`.replace(/ as numpy$/, ''),
  );
  return syntaxErrors(result) === 0 ? result : null;
}

function offered({ source, np }: Script, parts: readonly Replacement[]): Omit<Rewrite, 'weight' | 'source'> {
  const places = parts.map(({ loop }) => {
    const nested = 1 + nodesOf(loop, 'ForStatement').filter((other) => isInside(other, loop)).length;
    return `the ${nested === 1 ? 'loop' : `${nested} loops`} from line ${lineOf(source, loop)} (\`${textOf(source, loop).split('\n')[0]?.replace(/:.*$/, '')}\`)`;
  });
  const written = parts.flatMap(({ lines }) => lines).join('\n');
  const name = written.includes('sliding_window_view')
    ? 'numpy: windows as views'
    : written.includes(`${np}.einsum`)
      ? 'numpy: sums of products as matrix products'
      : /\bcumsum\b/.test(written)
        ? 'numpy: running sums'
        : 'numpy: whole arrays instead of loops';
  return { name, change: `${places.join(' and ')} as expressions of whole arrays.`, reason, effort: 0.3 };
}
