import { childrenOf, nodesOf, type SyntaxNode } from '../../python-source.ts';
import { plus, times } from './arithmetic.ts';
import { evaluated, evaluatedTruth, materialised, operandOf } from './expressions.ts';
import type { Rounds, Variable } from './rounds.ts';
import { store } from './stores.ts';
import { calledIn, givenTo, sidesOf, subscriptsOf } from './syntax.ts';
import { isMisread } from './truth.ts';
import {
  arranged,
  isOwn,
  type Loop,
  nameOfLoop,
  type Operand,
  Refusal,
  reduced,
  scalar,
  single,
} from './values.ts';

/** `best = max(best, value)`. */
export function extreme(
  rounds: Rounds,
  target: SyntaxNode | undefined,
  value: SyntaxNode | undefined,
): boolean {
  if (target?.name !== 'VariableName' || value?.name !== 'CallExpression') return false;
  const callee = /^(?:max|min)$/.exec(calledIn(rounds.source, value))?.[0];
  const list = givenTo(value);
  const name = rounds.text(target);
  const [other, ...more] = list.filter((each) => rounds.text(each) !== name);
  if (callee === undefined || list.length !== 2 || other === undefined || more.length > 0) return false;
  const variable = rounds.gathering(name);
  const over = rounds.openedSince(variable);
  if (over.length === 0 || variable.gatheredOver.length > 0) throw new Refusal('an extreme of nothing');
  const operand = materialised(rounds.settled(name, evaluated(other, rounds)), rounds);
  const found = reduced(operand, over, `${rounds.np}.${callee}`);
  const operands = [materialised(variable.value, rounds), found];
  const best = rounds.each(operands, (codes) => `${rounds.np}.${callee}imum(${codes.join(', ')})`);
  const result = { value: single(best), gatheredOver: over, running: null, isExtreme: true };
  rounds.variables.set(name, { ...variable, ...result });
  return true;
}

/** What an `if` asks that looks for the least or the greatest value. */
interface Search {
  /** The best so far: a name, a place of an array, or an expression of the number of the best round. */
  best: SyntaxNode;
  value: SyntaxNode;
  isLeast: boolean;
  /** What else has to hold. */
  guards: readonly SyntaxNode[];
  body: SyntaxNode;
  /** What the body gives values to, each once. */
  kept: readonly { target: SyntaxNode; given: SyntaxNode }[];
}

/** `if value < best: best = value` and the like, from either side; null for any other condition. */
function searchOf(rounds: Rounds, node: SyntaxNode): Search | null {
  const [, test, body, ...others] = childrenOf(node);
  if (others.length > 0 || test === undefined || body === undefined) return null;
  const kept = childrenOf(body).flatMap((statement) => {
    const { targets, values } =
      statement.name === 'AssignStatement' ? sidesOf(statement) : { targets: [], values: [] };
    return targets.flatMap((target, place) => {
      const given = values[place];
      return given === undefined || targets.length !== values.length ? [] : [{ target, given }];
    });
  });
  const targets = new Set(kept.map(({ target }) => rounds.text(target)));
  // The best itself, or `a[best]` next to `a[j]`, where `best = j` is all that is kept.
  const isBest = (side: SyntaxNode, value: SyntaxNode) => {
    if (targets.has(rounds.text(side))) return true;
    const [only, ...more] = kept;
    if (only === undefined || more.length > 0 || only.target.name !== 'VariableName') return false;
    const number = new RegExp(`\\b${rounds.text(only.given)}\\b`, 'g');
    return (
      only.given.name === 'VariableName' &&
      rounds.text(value) !== rounds.text(side) &&
      rounds.text(value).replace(number, rounds.text(only.target)) === rounds.text(side)
    );
  };
  const tests = conjuncts(rounds, test);
  for (const each of tests) {
    const [left, sign, right, ...more] = each.name === 'BinaryExpression' ? childrenOf(each) : [];
    if (left === undefined || sign === undefined || right === undefined || more.length > 0) continue;
    if (!/^[<>]$/.test(rounds.text(sign))) continue;
    const isLess = rounds.text(sign) === '<';
    const guards = tests.filter((other) => other !== each);
    if (isBest(right, left)) return { best: right, value: left, isLeast: isLess, guards, body, kept };
    if (isBest(left, right)) return { best: left, value: right, isLeast: !isLess, guards, body, kept };
  }
  return null;
}

/** What has to hold together. */
function conjuncts(rounds: Rounds, test: SyntaxNode): SyntaxNode[] {
  const [left, sign, right] = childrenOf(test);
  if (test.name === 'ParenthesizedExpression' && sign !== undefined) return conjuncts(rounds, sign);
  if (test.name !== 'BinaryExpression' || left === undefined || right === undefined) return [test];
  if (sign === undefined || rounds.text(sign) !== 'and' || isMisread(test, rounds.source)) return [test];
  return [...conjuncts(rounds, left), ...conjuncts(rounds, right)];
}

/** What was found over the rounds of some loops. */
interface Found {
  /** The least or the greatest value. */
  extreme: Operand;
  /** Whether it is better than what was there before. */
  isBetter: Operand;
  /** Whether there is one for sure, so that nothing has to be there before. */
  isCertain: boolean;
  variable: Variable | undefined;
  over: readonly Loop[];
  /** The number of each loop in which it was found. */
  numbers: ReadonlyMap<string, Operand>;
}

/** `if value < best: best = value` and, with it, `place = j`: the least value, and the first round that has it. */
export function best(rounds: Rounds, node: SyntaxNode, mask: Operand | null): boolean {
  const search = searchOf(rounds, node);
  if (search === null) return false;
  const over = loopsOver(rounds, search);
  if (over.length === 0) return false;
  const statements = childrenOf(search.body).filter(({ name }) => !/^(?::|Comment)$/.test(name));
  if (statements.some(({ name }) => name !== 'AssignStatement')) throw new Refusal('more than the best');
  const value = valuesOfAll(rounds, search, mask, over);
  const isMasked = mask !== null || search.guards.length > 0;
  // What is kept is worked out once, after all rounds of these loops.
  rounds.loops.splice(-over.length);
  const found = foundIn(rounds, search, { value, over, isMasked });
  const results = search.kept.map(({ target, given }) => ({
    target,
    result: givenAt(rounds, search, found, given),
  }));
  for (const { target, result } of results) keep(rounds, target, found, result);
  rounds.loops.push(...over);
  return true;
}

/** The innermost loops, over which the best is looked for. */
function loopsOver(rounds: Rounds, { best, kept }: Search): readonly Loop[] {
  const [first] = kept;
  const target =
    kept.find(({ target }) => rounds.text(target) === rounds.text(best))?.target ?? first?.target;
  if (target === undefined) return [];
  if (target.name === 'VariableName') {
    const name = rounds.text(target);
    const known = rounds.variables.get(name);
    const labels = known === undefined ? rounds.loops.map(({ label }) => label) : rounds.openedSince(known);
    return rounds.loops.filter(({ label }) => labels.includes(label));
  }
  const { parts } = subscriptsOf(target, rounds.source);
  const names = parts.flat().flatMap((part) => [part, ...nodesOf(part, 'VariableName')]);
  const texts = new Set(names.map((each) => rounds.text(each)));
  return rounds.loops.slice(rounds.loops.findLastIndex((loop) => texts.has(nameOfLoop(loop))) + 1);
}

/** The value of all rounds, with the loops that it is looked for over as the last axes; the worst where nothing is asked. */
function valuesOfAll(rounds: Rounds, search: Search, mask: Operand | null, over: readonly Loop[]): Operand {
  const value = materialised(rounds.settled('value', evaluated(search.value, rounds)), rounds);
  const masks = [
    ...(mask === null ? [] : [mask]),
    ...search.guards.map((guard) => materialised(evaluatedTruth(guard, rounds), rounds)),
  ];
  const worst = { code: `${search.isLeast ? '' : '-'}${rounds.np}.inf`, axes: [] };
  const operand = masks.reduce(
    (rest, each) => rounds.each([each, rest, worst], (codes) => `${rounds.np}.where(${codes.join(', ')})`),
    value,
  );
  if (operand.axes.some(isOwn)) throw new Refusal('a comparison of arrays');
  const labels = over.map(({ label }) => label);
  const axes = [...operand.axes.filter((axis) => !labels.includes(axis)), ...labels];
  if (axes.length !== operand.axes.length) throw new Refusal('a best of what is the same');
  const fresh = rounds.freshName('value');
  rounds.lines.push(`${fresh} = ${arranged(operand, axes)}`);
  return { code: fresh, axes };
}

function foundIn(
  rounds: Rounds,
  search: Search,
  { value, over, isMasked }: { value: Operand; over: readonly Loop[]; isMasked: boolean },
): Found {
  const { np } = rounds;
  const which = search.isLeast ? 'min' : 'max';
  const labels = over.map(({ label }) => label);
  const name = rounds.text(search.best);
  const known = rounds.variables.get(name);
  if ((known?.gatheredOver.length ?? 0) > 0) throw new Refusal('the best of many');
  const isOutside = search.best.name === 'VariableName' && known === undefined;
  const start = isOutside ? scalar(name).factors[0] : operandOf(search.best, rounds);
  if (start === undefined) throw new Refusal('the best of nothing');
  const extreme = settledLine(rounds, 'best', reduced(value, labels, `${np}.${which}`));
  const isBetter = rounds.each(
    [extreme, start],
    ([one, two]) => `${one} ${search.isLeast ? '<' : '>'} ${two}`,
  );
  const isCertain = !isMasked && /\binf|^-?\d+e\d\d+$|^-?9{6,}$/.test(start.code);
  const needsNumbers = search.kept.some(({ given }) => rounds.text(given) !== rounds.text(search.value));
  const numbers = needsNumbers ? numbersIn(rounds, value, over, `${np}.arg${which}`) : new Map();
  const variable = isOutside ? rounds.gathering(name) : known;
  return { extreme, isBetter: settledLine(rounds, 'better', isBetter), isCertain, variable, over, numbers };
}

function settledLine(rounds: Rounds, name: string, operand: Operand): Operand {
  const fresh = rounds.freshName(name);
  rounds.lines.push(`${fresh} = ${operand.code}`);
  return { code: fresh, axes: operand.axes };
}

/** In which round of each loop the first extreme stands. */
function numbersIn(
  rounds: Rounds,
  value: Operand,
  over: readonly Loop[],
  callee: string,
): ReadonlyMap<string, Operand> {
  const axes = value.axes.slice(0, -over.length);
  const [outer, inner, ...more] = over;
  if (outer === undefined || more.length > 0) throw new Refusal('the place of the best in many loops');
  const flat = inner === undefined ? value.code : `${value.code}.reshape(${value.code}.shape[:-2] + (-1,))`;
  const place = settledLine(rounds, 'place', { code: `${callee}(${flat}, axis=-1)`, axes });
  const width = `${value.code}.shape[-1]`;
  const places =
    inner === undefined ? [place.code] : [`(${place.code} // ${width})`, `(${place.code} % ${width})`];
  return new Map(
    over.map(({ label, first, step }, turn) => {
      const code = plus(times(places[turn] ?? '', step), first);
      return [label, settledLine(rounds, 'number', { code, axes })] as const;
    }),
  );
}

/** What the body of the condition keeps, as it is in the best round. */
function givenAt(rounds: Rounds, search: Search, found: Found, given: SyntaxNode): Operand {
  if (rounds.text(given) === rounds.text(search.value)) return found.extreme;
  const targets = search.kept.map(({ target }) => rounds.text(subscriptsOf(target, rounds.source).base));
  const names = [given, ...nodesOf(given, 'VariableName')].map((node) => rounds.text(node));
  if (names.some((name) => targets.includes(name))) throw new Refusal('what was best before');
  const before = [...rounds.variables];
  for (const [name, variable] of before) {
    const { affine } = variable.value;
    const [[label, factor] = ['', '']] = affine?.terms ?? [];
    const number = found.numbers.get(label);
    if (number !== undefined && affine?.terms.size === 1 && affine.constant === '0' && factor === '1')
      rounds.set(name, single(number));
  }
  const result = operandOf(given, rounds);
  for (const [name, variable] of before) rounds.variables.set(name, variable);
  return result;
}

/** Gives the best, or what was found with it, to a name or a place of an array. */
function keep(
  rounds: Rounds,
  target: SyntaxNode,
  { isBetter, isCertain, variable, over }: Found,
  result: Operand,
): void {
  const name = rounds.text(target);
  if (target.name !== 'VariableName') {
    const { base } = subscriptsOf(target, rounds.source);
    if (rounds.isOf('whole', rounds.text(base)) && result.code.startsWith('best_'))
      throw new Refusal('fractions that are cut off in every round');
    store(rounds, target, '=', single(result), isBetter);
    return;
  }
  const known = rounds.variables.get(name);
  const held = known ?? (rounds.loops.length === 0 ? rounds.gathering(name) : undefined);
  if (rounds.forgotten.has(name)) throw new Refusal('a value that only some rounds have');
  if (held !== undefined && (rounds.openedSince(held).length > 0 || held.gatheredOver.length > 0))
    throw new Refusal('more than the best');
  const before = held === undefined ? null : materialised(held.value, rounds);
  const isEmpty = before === null || before.code === 'None';
  if (isEmpty && !isCertain) throw new Refusal('a best that there may not be');
  const operands = [isBetter, result, before ?? result];
  const isScalar = operands.every(({ axes }) => axes.length === 0);
  const chosen = isEmpty
    ? result
    : isScalar
      ? { code: `(${result.code} if ${isBetter.code} else ${before.code})`, axes: [] }
      : rounds.each(operands, (codes) => `${rounds.np}.where(${codes.join(', ')})`);
  const isOuter = held?.isOuter ?? rounds.loops.length === 0;
  const definedIn = held?.definedIn ?? variable?.definedIn ?? rounds.loops.map(({ label }) => label);
  const value = single(isScalar ? chosen : settledLine(rounds, name, chosen));
  rounds.variables.set(name, {
    ...{ value, definedIn, isOuter, running: null, isExtreme: true },
    gatheredOver: over.map(({ label }) => label),
  });
}
