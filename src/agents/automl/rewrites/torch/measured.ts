import { spellingsOf } from '../../../search/metric-names.ts';
import { argumentsOf } from '../../arguments.ts';
import { plainName } from '../../priors.ts';
import { calleeName, childrenOf, type SyntaxNode, textOf } from '../../python-source.ts';
import { hasOwnLines } from '../python-edit.ts';
import type { TorchScript } from './script.ts';

/** A value that a script measures on validation data. */
export interface Measured {
  statement: SyntaxNode;
  /** What is printed or assigned. */
  expression: SyntaxNode;
  /** The variable that holds it, if any. */
  variable: string | null;
  isPrinted: boolean;
  /** The name of the measure: `accuracy`. */
  what: string;
  isLarger: boolean;
  isMetric: boolean;
}

const held =
  /\b(?:val|valid|validation|validate|validated|dev|eval|evaluate|evaluation|holdout|heldout|held out|oof)\b/;
const others = /\b(?:train|training|trn|tests?|testing)\b/;
const kept = /\b(?:best|prev|previous|last|old|min|max)\b/;
const higher =
  /\b(?:accuracy|acc|f1|auc|auroc|roc|r2|score|precision|recall|iou|dice|mcc|kappa|pearson|spearman|correlation|corr|ndcg|mrr|bleu|rouge)\b/;
const lower =
  /\b(?:loss|error|err|mae|mse|rmse|rmsle|mape|smape|mcrmse|perplexity|ppl|nll|bce|entropy|wer|cer|bpc)\b/;

/** `validation acc` for `validationAcc`. */
function wordsOf(text: string): string {
  return plainName(text).replaceAll('_', ' ');
}

export function saysValidation(text: string): boolean {
  return held.test(wordsOf(text));
}

type Kind = Pick<Measured, 'what' | 'isLarger' | 'isMetric'>;

/** What is measured according to a name or label; null if it does not say, or says two contradictory things. */
function kindOf({ surroundings: { task } }: TorchScript, text: string): Kind | null {
  const words = wordsOf(text);
  const own = spellingsOf(task.metric).find((spelling) => ` ${words} `.includes(` ${spelling} `));
  if (own !== undefined) return { what: own, isLarger: task.metric.direction === 'maximize', isMetric: true };
  const [up, down] = [higher.exec(words)?.[0], lower.exec(words)?.[0]];
  if (up !== undefined && down !== undefined) return null;
  const what = up ?? down;
  return what === undefined ? null : { what, isLarger: down === undefined, isMetric: false };
}

/** Every value that statements of these bodies measure, the task's own metric first, then the latest. */
export function measuredIn(script: TorchScript, bodies: readonly SyntaxNode[]): Measured[] {
  const found = bodies.flatMap((body) =>
    statementsOf(body).flatMap((statement) =>
      !hasOwnLines(script.source, statement)
        ? []
        : statement.name === 'ExpressionStatement'
          ? printedValues(script, statement)
          : assignedValues(script, statement),
    ),
  );
  return found.toReversed().sort((left, right) => Number(right.isMetric) - Number(left.isMetric));
}

/** Simple statements that a body runs once each, without those in its loops and functions. */
function statementsOf(body: SyntaxNode): SyntaxNode[] {
  return childrenOf(body).flatMap((child) => {
    if (/^(?:Assign|Update|Expression)Statement$/.test(child.name)) return [child];
    return /^(?:If|With|Try)Statement$/.test(child.name)
      ? child.getChildren('Body').flatMap(statementsOf)
      : [];
  });
}

function assignedValues(script: TorchScript, statement: SyntaxNode): Measured[] {
  const { source } = script;
  const children = childrenOf(statement);
  const sign = children.findIndex(({ name }) => /^(?:Assign|Update)Op$/.test(name));
  const [expression, ...more] = children.slice(sign + 1);
  const targets = children.slice(0, Math.max(sign, 0)).filter(({ name }) => !/^(?:,|TypeDef)$/.test(name));
  const operator = children[sign] === undefined ? '' : textOf(source, children[sign]);
  if (expression === undefined || more.length > 0 || !/^(?:=|\/=|\*=)$/.test(operator)) return [];
  const isValue = /^(?:Call|Binary|Member)Expression$|^VariableName$/.test(expression.name);
  if (operator === '=' && !isValue) return [];
  if (targets.length > 1 && expression.name !== 'CallExpression') return [];
  return targets.flatMap((target): Measured[] => {
    if (target.name !== 'VariableName') return [];
    const variable = textOf(source, target);
    const kind = kindOf(script, variable);
    const isHeld = saysValidation(variable) || saysValidation(textOf(source, expression));
    const isOther = others.test(wordsOf(`${variable} ${textOf(source, expression)}`));
    if (kind === null || !isHeld || isOther || kept.test(wordsOf(variable))) return [];
    return [{ statement, expression, variable, isPrinted: false, ...kind }];
  });
}

function printedValues(script: TorchScript, statement: SyntaxNode): Measured[] {
  const { source } = script;
  const call = statement.firstChild;
  if (call?.name !== 'CallExpression' || calleeName(source, call) !== 'print') return [];
  const found: Measured[] = [];
  let before = '';
  let label = '';
  for (const piece of piecesOf(source, call)) {
    if (typeof piece === 'string') {
      before += piece;
      label += piece;
      continue;
    }
    const text = textOf(source, piece);
    const kind = kindOf(script, label) ?? kindOf(script, text);
    if (kind !== null && isOfValidation(before, label, text)) {
      const variable = piece.name === 'VariableName' ? text : null;
      found.push({ statement, expression: piece, variable, isPrinted: true, ...kind });
    }
    label = '';
  }
  return found;
}

/** Whether the words nearest to a printed value say that it is of validation: its own, its label's, those before. */
function isOfValidation(before: string, label: string, text: string): boolean {
  for (const each of [text, label]) {
    const words = wordsOf(each);
    if (others.test(words) || kept.test(words)) return false;
    if (held.test(words)) return true;
  }
  const subject = wordsOf(before)
    .split(' ')
    .findLast((word) => held.test(word) || others.test(word));
  return subject !== undefined && held.test(subject);
}

/** The printed parts in order: texts, and the expressions between them. */
function piecesOf(source: string, call: SyntaxNode): (string | SyntaxNode)[] {
  return argumentsOf(source, call).flatMap(({ keyword, value }) => {
    if (keyword !== null) return [];
    if (value.name === 'String') return [textOf(source, value)];
    if (value.name !== 'FormatString') return isText(source, value) ? [] : [value];
    const pieces: (string | SyntaxNode)[] = [];
    let place = value.from + 2;
    for (const field of value.getChildren('FormatReplacement')) {
      pieces.push(source.slice(place, field.from));
      place = field.to;
      const [, expression, next] = childrenOf(field);
      // `{x=}` prints the source of x.
      if (expression !== undefined && next?.name !== 'FormatSelfDoc' && !isText(source, expression))
        pieces.push(expression);
    }
    return [...pieces, source.slice(place, value.to - 1)];
  });
}

/** `"%.3f" % x`, `"{}".format(x)`: no longer a number. */
function isText(source: string, node: SyntaxNode): boolean {
  return /^[a-z]{0,2}["']/i.test(textOf(source, node)) || node.name === 'ContinuedString';
}
