import { argumentsOf } from '../../arguments.ts';
import { ancestorsOf, childrenOf, type Edit, nodesOf, type SyntaxNode, textOf } from '../../python-source.ts';
import { hasOwnLines, linesAfter, linesBefore } from '../python-edit.ts';
import type { Rewrite } from '../rewrite.ts';
import { type Measured, measuredIn, saysValidation } from './measured.ts';
import { wrapped } from './normalisation.ts';
import { calleeText, inLines, type TorchScript, written } from './script.ts';
import { callersOf, coursesOf, headOf, optimizerSteps } from './training.ts';

const keeper = 'best_of_epochs';
/** With at least this many epochs, the last ones are often worse than an earlier one. */
const manyEpochs = 20;

/** A loop over epochs in which one model is trained. */
interface Course {
  loop: SyntaxNode;
  body: SyntaxNode;
  model: string;
  /** The code after the loop in the same function or script, and after the calls of that function. */
  rest: string;
  restOfCallers: string;
}

/** Uses the weights of the best epoch on validation data instead of those of the last one. */
export function keepBestEpoch(script: TorchScript): Rewrite[] {
  const { source } = script;
  if (/load_state_dict\(/.test(source)) return [];
  for (const course of epochCourses(script)) {
    const kept = measuredInLoop(script, course) ?? measuredAfterLoop(script, course);
    if (kept === null) continue;
    const { loop, model } = course;
    const { measured, edits, effort } = kept;
    return written(script, {
      name: 'torch: best epoch',
      change: `After the loop ${inLines(source, [loop])}, ${model} has the weights of the epoch whose validation ${measured.what} was best.`,
      reason:
        'a network that trains on learns its training data by heart, and the best epoch is seldom the last (Prechelt 1998).',
      weight: epochsOf(source, loop) >= manyEpochs ? 0.45 : 0.2,
      effort,
      parts: ['best'],
      edits: [
        linesBefore(source, loop, [`${keeper} = BestEpoch(larger=${measured.isLarger ? 'True' : 'False'})`]),
        ...edits,
      ],
    });
  }
  return [];
}

/** The outermost first: loops that train one model from start to end, and that end only after their last line. */
function epochCourses(script: TorchScript): Course[] {
  const { source } = script;
  const steps = optimizerSteps(script);
  const loops = steps.flatMap(({ loops: around }) => coursesOf(source, around).slice(0, 2).reverse());
  return [...new Map(loops.map((loop) => [loop.from, loop])).values()].flatMap((loop): Course[] => {
    const model = modelIn(script, loop);
    const body = loop.getChild('Body');
    if (model === null || body === null || !hasOwnLines(source, loop)) return [];
    const text = textOf(source, loop);
    const isMade = new RegExp(`^\\s*${escaped(model)}\\s*(?::[^=\\n]*)?=[^=]`, 'm');
    const isLeft = /^[ \t]*(?:return|yield)\b|\byield\b/m.test(text);
    const { rest, restOfCallers } = restAfter(script, loop);
    const isUsed = mentions(rest, model) || isKnownToCallers(source, loop, model);
    if (isMade.test(text) || isMade.test(rest) || isLeft || !isUsed) return [];
    return [{ loop, body, model, rest, restOfCallers }];
  });
}

/** The loop's name for the one model that it trains; null if it trains none, or more than one. */
function modelIn(script: TorchScript, loop: SyntaxNode): string | null {
  const { source, calls, modelNames } = script;
  const within = (outer: SyntaxNode) => calls.filter(({ from, to }) => from >= outer.from && to <= outer.to);
  const owners = (outer: SyntaxNode, methods: RegExp) =>
    within(outer).flatMap((call) => {
      const [, owner, method] = /^([\w.]+)\.(\w+)$/.exec(calleeText(source, call)) ?? [];
      const isOwner = owner !== undefined && owner !== 'self' && methods.test(method ?? '');
      return isOwner && modelNames.has(owner) && !/crit|loss/i.test(owner) ? [owner] : [];
    });
  const handed = within(loop).flatMap((call) =>
    argumentsOf(source, call).flatMap(({ value }) => {
      const text = textOf(source, value);
      return modelNames.has(text) && text !== 'self' ? [text] : [];
    }),
  );
  const object = ancestorsOf(loop).find(({ name }) => name === 'ClassDefinition');
  const ofObject = object === undefined ? [] : owners(object, /^(?:train|eval|parameters)$/);
  const ways = [
    owners(loop, /^(?:train|eval)$/),
    owners(scopeOf(loop), /^parameters$/),
    handed,
    ofObject.filter((owner) => owner.startsWith('self.')),
  ];
  const names = new Set(ways.find(({ length }) => length > 0));
  const [only] = names;
  return names.size === 1 && only !== undefined ? only : null;
}

function scopeOf(node: SyntaxNode): SyntaxNode {
  return ancestorsOf(node).find(({ name }) => /^(?:FunctionDefinition|Script)$/.test(name)) ?? node;
}

function restAfter(
  script: TorchScript,
  node: SyntaxNode,
  seen: readonly number[] = [],
): Pick<Course, 'rest' | 'restOfCallers'> {
  const scope = scopeOf(node);
  const rest = script.source.slice(node.to, scope.to);
  const callers =
    scope.name === 'Script' || seen.includes(scope.from)
      ? []
      : callersOf(script, scope).map((call) => restAfter(script, call, [...seen, scope.from]));
  return { rest, restOfCallers: callers.map((each) => each.rest + each.restOfCallers).join('\n') };
}

/** Whether the callers of the function have the model too: it is an argument, or belongs to the object. */
function isKnownToCallers(source: string, loop: SyntaxNode, model: string): boolean {
  const parameters = scopeOf(loop).getChild('ParamList');
  return parameters !== null && mentions(textOf(source, parameters), model.replace(/\..*/, ''));
}

function mentions(text: string, name: string): boolean {
  return new RegExp(`(?<![\\w.])${escaped(name)}(?!\\w)`).test(text);
}

function escaped(name: string): string {
  return name.replaceAll('.', '\\.');
}

interface Kept {
  measured: Measured;
  edits: Edit[];
  effort: number;
}

/** The loop measures by itself: each value is recorded, and the last measurement belongs to the best epoch. */
function measuredInLoop(script: TorchScript, course: Course): Kept | null {
  const { source } = script;
  const { loop, body, model, rest, restOfCallers } = course;
  const isPrintedLater = /\bprint\s*\(.*$/gm;
  const later = [...`${rest}\n${restOfCallers}`.matchAll(isPrintedLater)].some(([line]) =>
    saysValidation(line),
  );
  for (const measured of measuredIn(script, [body])) {
    const { statement, expression, variable, isPrinted, what } = measured;
    const isUsedLater = variable !== null && mentions(rest, variable);
    // Otherwise no output would show what the best epoch is worth.
    if (!isUsedLater && !later && !isPrinted) continue;
    if (!isPrinted && variable !== null && isChangedAfter(source, statement, body, variable)) continue;
    const restored = `${keeper}.restore(${model})`;
    const restoring = isUsedLater
      ? `${variable} = ${restored}`
      : later
        ? restored
        : `print("best epoch: validation ${what}:", ${restored})`;
    const noting = isPrinted
      ? wrapped(expression, `${keeper}.note(${model}, `, ')')
      : [linesAfter(source, statement, [`${keeper}.note(${model}, ${variable})`])];
    return { measured, effort: 1.02, edits: [...noting, linesAfter(source, loop, [restoring])] };
  }
  return null;
}

/** `val_loss = 0` and a loop that adds to it: the assigned value is not final yet. */
function isChangedAfter(source: string, statement: SyntaxNode, body: SyntaxNode, name: string): boolean {
  return new RegExp(`(?<![\\w.])${name}\\s*[-+*/]?=(?!=)`).test(source.slice(statement.to, body.to));
}

/** The script measures once, after the loop, with its own function: it is called after each epoch too. */
function measuredAfterLoop(script: TorchScript, { loop, body, model }: Course): Kept | null {
  const { source } = script;
  const isOverEpochs = /epoch/i.test(headOf(source, loop));
  const last = childrenOf(body).findLast(({ name }) => name !== 'Comment');
  if (!isOverEpochs || last === undefined || !hasOwnLines(source, last) || loop.parent === null) return null;
  for (const measured of measuredIn(script, [loop.parent])) {
    const { expression, statement } = measured;
    const call = evaluationIn(script, expression, model);
    if (statement.from < loop.to || call === null) continue;
    const given = argumentsOf(source, call).map(({ value }) => value);
    if (!given.every((value) => isKnownBefore(source, value, loop, statement))) continue;
    const handed = given.map((value) => textOf(source, value)).join(', ');
    const measuring = `${keeper}.measure(${model}, ${calleeText(source, call)}, ${handed})`;
    const edits = [
      linesAfter(source, last, [measuring]),
      linesAfter(source, loop, [`${keeper}.restore(${model})`]),
    ];
    return { measured, effort: 1.3, edits };
  }
  return null;
}

/** A call of a function of the script that gets the model, with positional arguments only. */
function evaluationIn(script: TorchScript, expression: SyntaxNode, model: string): SyntaxNode | null {
  const { source, top } = script;
  if (expression.name !== 'CallExpression') return null;
  const all = argumentsOf(source, expression);
  const list = expression.getChild('ArgList');
  const isPlain = all.every(({ keyword }) => keyword === null) && list?.getChild('*') === null;
  const isOwn = nodesOf(top, 'FunctionDefinition').some((definition) => {
    const name = definition.getChild('VariableName');
    return name !== null && textOf(source, name) === calleeText(source, expression);
  });
  const isHanded = all.some(({ value }) => textOf(source, value) === model);
  return isPlain && isOwn && isHanded ? expression : null;
}

/** Whether a name has the same value before the loop and after it. */
function isKnownBefore(source: string, value: SyntaxNode, loop: SyntaxNode, use: SyntaxNode): boolean {
  if (value.name !== 'VariableName') return /^(?:Number|Boolean|None)$/.test(value.name);
  const isGiven = new RegExp(`(?<![\\w.])${textOf(source, value)}(?!\\w)`);
  const givenIn = (scope: SyntaxNode) =>
    nodesOf(scope, 'AssignStatement').filter((statement) => {
      const sign = statement.getChild('AssignOp');
      return sign !== null && isGiven.test(source.slice(statement.from, sign.from));
    });
  const scope = scopeOf(loop);
  const given = givenIn(scope);
  const parameters = scope.getChild('ParamList');
  const isParameter = parameters !== null && isGiven.test(textOf(source, parameters));
  const isGlobal =
    given.length === 0 && givenIn(scopeOf(scope)).some(({ parent }) => parent?.name === 'Script');
  const isBefore =
    isParameter || isGlobal || given.some(({ from, parent }) => from < loop.from && isAround(parent, loop));
  const isFixed = !given.some(({ from }) => from >= loop.from && from < use.from);
  const isOfLoop = nodesOf(loop, 'ForStatement').some((inner) => isGiven.test(headOf(source, inner)));
  return isBefore && isFixed && !isOfLoop;
}

function isAround(block: SyntaxNode | null, node: SyntaxNode): boolean {
  return block !== null && block.from <= node.from && block.to >= node.to;
}

/** The number of epochs, if it is written as a number; none otherwise. */
function epochsOf(source: string, loop: SyntaxNode): number {
  const [, last = ''] = /\brange\(\s*(?:[01]\s*,\s*)?([\w.]+)/.exec(headOf(source, loop)) ?? [];
  const name = last.split('.').at(-1) ?? '';
  if (/^\d+$/.test(last)) return Number(last);
  // `EPOCHS = 30`, `epochs: int = 30`, `add_argument("--epochs", type=int, default=30)`.
  const given = `(?<!\\w)${name}["']?\\s*(?:(?::\\s*int\\s*)?=|,[^\\n]*\\bdefault=)\\s*(\\d+)`;
  return Number((name === '' ? null : new RegExp(given).exec(source))?.[1] ?? 0);
}
