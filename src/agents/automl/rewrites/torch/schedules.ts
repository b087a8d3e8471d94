import { argumentsOf } from '../../arguments.ts';
import { calleeName, childrenOf, type SourceEdit, type SyntaxNode, textOf } from '../../python-source.ts';
import { hasOwnLines, statementOf } from '../python-edit.ts';
import type { Rewrite } from '../rewrite.ts';
import { inLines, type TorchScript, written } from './script.ts';
import { coursesOf, headOf, iterableOf, madeOptimizers, optimizerSteps, schedulerSteps } from './training.ts';

/** A learning rate that follows the progress of the training, and replaces an existing schedule. */
export function addSchedule(script: TorchScript): Rewrite[] {
  const { source } = script;
  const optimizers = madeOptimizers(script).map(({ call }) => call);
  const loops = optimizerSteps(script).flatMap(({ loops: around }) => pacedLoops(source, around));
  const steps = schedulerSteps(script);
  const removed = removedStatements(source, steps);
  if (optimizers.length === 0 || removed === null || /\bscheduled\(/.test(source)) return [];
  if (loops.length === 0) return [];
  const edits = [...uniqueEdits(loops), ...removed];
  const replaced = steps.length > 0 ? ', in place of the schedule that is there' : '';
  return written(script, {
    ...{ name: 'torch: warm-up and cosine decay', weight: 0.7, effort: 1, parts: ['plan'] },
    reason: 'large steps find a good place and small ones settle there (Loshchilov and Hutter 2017).',
    change: `The learning rate of the optimizer ${inLines(source, optimizers)} rises during the first tenth of all steps (up to three times the constant rate, for adaptive steps) and then falls to zero along a cosine${replaced}.`,
    edits: [
      ...edits,
      ...optimizers.flatMap(({ from, to }) => [
        { from, to: from, text: 'scheduled(' },
        { from: to, to, text: ', warm_up=0.1)' },
      ]),
    ],
  });
}

/** The loops over batches and over epochs: each reports its progress. */
function pacedLoops(source: string, loops: readonly SyntaxNode[]): SourceEdit[] {
  const [batches, epochs] = coursesOf(source, loops);
  if (batches === undefined) return [];
  const isLone = epochs === undefined && /epoch|range/i.test(headOf(source, batches));
  return [
    ...planned(source, batches, isLone ? 'epochs' : 'batches'),
    ...(epochs === undefined ? [] : planned(source, epochs, 'epochs')),
  ];
}

function planned(source: string, loop: SyntaxNode, unit: string): SourceEdit[] {
  let iterable = iterableOf(loop);
  // Other iterators often hide their length.
  while (
    iterable?.name === 'CallExpression' &&
    /^(?:enumerate|tqdm|zip)$/.test(calleeName(source, iterable))
  ) {
    const [first] = argumentsOf(source, iterable);
    if (first === undefined) return [];
    iterable = first.value;
  }
  if (iterable === null) return [];
  return [
    { from: iterable.from, to: iterable.from, text: 'planned(' },
    { from: iterable.to, to: iterable.to, text: `, "${unit}")` },
  ];
}

/** Removes statements; null if that leaves a block empty or is not that simple. */
function removedStatements(source: string, steps: readonly SyntaxNode[]): SourceEdit[] | null {
  const edits: SourceEdit[] = [];
  for (const step of steps) {
    const statement = statementOf(step);
    const siblings = statement.parent === null ? [] : childrenOf(statement.parent);
    const others = siblings.filter(({ name }) => /Statement$|Definition$/.test(name));
    if (!hasOwnLines(source, statement)) return null;
    const text = textOf(source, statement).trimEnd();
    const isLast = others.every((other) => steps.some(({ from }) => from === other.from));
    const start = source.lastIndexOf('\n', statement.from - 1) + 1;
    const end = statement.from + text.length;
    edits.push(
      isLast
        ? { from: statement.from, to: end, text: 'pass' }
        : { from: start, to: Math.min(end + 1, source.length), text: '' },
    );
  }
  return edits;
}

function uniqueEdits(edits: readonly SourceEdit[]): SourceEdit[] {
  return [...new Map(edits.map((edit) => [`${edit.from} ${edit.text}`, edit])).values()];
}
