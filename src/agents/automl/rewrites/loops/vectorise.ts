import { childrenOf, nodesOf, type SyntaxNode, textOf } from '../../python-source.ts';
import { atom, comparisons } from './arithmetic.ts';
import { evaluated, evaluatedTruth, materialised } from './expressions.ts';
import { best, extreme } from './extremes.ts';
import { append } from './lists.ts';
import { open } from './loop-headers.ts';
import { isUsedLater } from './nest.ts';
import { Rounds, type Script, type Variable } from './rounds.ts';
import { recurrence } from './running-sums.ts';
import { store } from './stores.ts';
import { sidesOf, subscriptsOf } from './syntax.ts';
import { gather } from './totals.ts';
import { nameOfLoop, type Operand, Refusal, single, type Value } from './values.ts';

/** Statements without loops that do what a loop does; null where this cannot be told from the syntax. */
export function vectorised(loop: SyntaxNode, script: Script): string[] | null {
  // Of arrays that nothing else is known of, a round sees numbers, or else rows.
  for (const more of [0, 1]) {
    try {
      const ranks = guessedRanks(script, loop, more);
      const lines = linesOf(new Rounds(loop, { ...script, ranks }));
      return lines.length === 0 ? null : lines;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (process.env.WHY) console.error('   ', loop.from, error.message);
    }
  }
  return null;
}

/** The ranks that are known, and for other arrays the longest subscript that the script has of them, and some more. */
function guessedRanks(script: Script, loop: SyntaxNode, more: number): ReadonlyMap<string, number> {
  const ranks = new Map(script.ranks);
  const lengths = new Map<string, number>();
  for (const node of nodesOf(loop, 'MemberExpression')) {
    const name = node.firstChild === null ? '' : textOf(script.source, node.firstChild);
    const places = node.getChildren(',').length + 1;
    if (node.getChild('[') !== null && /^\w+$/.test(name))
      lengths.set(name, Math.max(places, lengths.get(name) ?? 0));
  }
  for (const [name, length] of lengths) if (!ranks.has(name)) ranks.set(name, length + more);
  return ranks;
}

/** What the loops do, and what they leave behind. */
function linesOf(rounds: Rounds): string[] {
  loop(rounds, rounds.nest.loop, null);
  const outer = [...rounds.variables].filter(([, { isOuter }]) => isOuter);
  for (const [name, { value }] of outer) {
    const operand = materialised(value, rounds);
    if (operand.axes.length > 0) throw new Refusal('a number that is an array at the end');
    rounds.lines.push(`${name} = ${operand.code}`);
  }
  if (isUsedLater(rounds.nest, rounds.source, new Set(outer.map(([name]) => name))))
    throw new Refusal('a name that is used later');
  return rounds.lines;
}

function statements(rounds: Rounds, body: readonly SyntaxNode[], mask: Operand | null): void {
  for (const [place, statement] of body.entries()) {
    const test = skipped(statement);
    if (test === null) {
      oneStatement(rounds, statement, mask);
      continue;
    }
    const rest = body.slice(place + 1);
    rounds.locals(() =>
      guarded(rounds, [test], () =>
        statements(rounds, rest, both(rounds, mask, not(rounds, truthOf(rounds, test)))),
      ),
    );
    return;
  }
}

/** What `if …: continue` asks. */
function skipped(statement: SyntaxNode): SyntaxNode | null {
  const [, test, body, ...others] = statement.name === 'IfStatement' ? childrenOf(statement) : [];
  if (test === undefined || body === undefined || others.length > 0) return null;
  const inside = childrenOf(body).filter(({ name }) => name !== ':' && name !== 'Comment');
  return inside.length === 1 && inside[0]?.name === 'ContinueStatement' ? test : null;
}

/** Works where conditions may be all that keeps subscripts inside their arrays. */
function guarded(rounds: Rounds, tests: readonly SyntaxNode[], work: () => void): void {
  const before = rounds.isGuarded;
  rounds.isGuarded ||= tests.some((test) => isGuard(rounds, test));
  work();
  rounds.isGuarded = before;
}

/** @param mask in which rounds it is done; null for all */
function oneStatement(rounds: Rounds, node: SyntaxNode, mask: Operand | null): void {
  switch (node.name) {
    case ':':
    case 'Comment':
    case 'PassStatement':
      return;
    case 'ForStatement':
      loop(rounds, node, mask);
      break;
    case 'AssignStatement':
      assignment(rounds, node, mask);
      break;
    case 'UpdateStatement':
      update(rounds, node, mask);
      break;
    case 'IfStatement':
      condition(rounds, node, mask);
      break;
    case 'ExpressionStatement':
      append(rounds, node, mask);
      break;
    default:
      throw new Refusal(`a ${node.name}`);
  }
}

function loop(rounds: Rounds, node: SyntaxNode, mask: Operand | null): void {
  const children = childrenOf(node);
  const bodies = children.filter(({ name }) => name === 'Body');
  const [body] = bodies;
  const iterated = children[children.findIndex(({ name }) => name === 'in') + 1];
  if (body === undefined || bodies.length > 1 || iterated === undefined || children[0]?.name !== 'for')
    throw new Refusal('a loop with an else');
  const some = open(rounds, node, iterated);
  const inside = () =>
    statements(rounds, childrenOf(body), some === null ? mask : both(rounds, mask, some));
  const wasGuarded = rounds.isGuarded;
  rounds.isGuarded ||= some !== null;
  if (some === null) inside();
  else rounds.locals(inside);
  rounds.isGuarded = wasGuarded;
  const closed = rounds.loops.pop();
  for (const [name, variable] of [...rounds.variables]) {
    const { value, isOuter, gatheredOver } = variable;
    if (value.affine?.terms.has(closed?.label ?? '') === true && !isOuter) rounds.forget(name);
    // Sums that are complete: worked out once, however often they are read.
    else if (gatheredOver[0] !== undefined && gatheredOver[0] === closed?.label)
      rounds.variables.set(name, { ...variable, value: rounds.kept(name, value), running: null });
  }
}

function assignment(rounds: Rounds, node: SyntaxNode, mask: Operand | null): void {
  const { targets, values } = sidesOf(node);
  if (targets.length !== values.length || values.length === 0) throw new Refusal('an assignment to many');
  if (mask === null && targets.length === 1 && extreme(rounds, targets[0], values[0])) return;
  if (mask === null && targets.length === 1 && recurrence(rounds, targets[0], values[0])) return;
  const read = values.map((value) => {
    const all = evaluated(value, rounds);
    return values.length > 1 ? rounds.settled('value', all) : all;
  });
  for (const [place, target] of targets.entries()) {
    const value = read[place];
    if (value === undefined) throw new Refusal('a broken assignment');
    const text = rounds.text(target);
    if (rounds.loops.some((loop) => nameOfLoop(loop) === text)) throw new Refusal('another number of a loop');
    if (target.name === 'VariableName') assign(rounds, text, value, mask);
    else store(rounds, target, '=', value, mask);
  }
}

function assign(rounds: Rounds, name: string, value: Value, mask: Operand | null): void {
  if (mask === null) {
    rounds.set(name, rounds.kept(name, value));
    return;
  }
  const before = rounds.variables.has(name) ? rounds.read(name) : null;
  if (before === null) {
    // Rounds that the condition leaves out get a value, too, which nothing reads: it is known in this block alone.
    rounds.set(name, rounds.kept(name, value));
    return;
  }
  const operands = [mask, materialised(value, rounds), materialised(before, rounds)];
  const chosen = rounds.each(operands, (codes) => `${rounds.np}.where(${codes.join(', ')})`);
  rounds.set(name, rounds.kept(name, single(chosen)));
}

function update(rounds: Rounds, node: SyntaxNode, mask: Operand | null): void {
  const [target, sign, ...rest] = childrenOf(node);
  const [expression] = rest;
  if (target === undefined || sign === undefined || expression === undefined || rest.length > 1)
    throw new Refusal('a broken update');
  const operator = rounds.text(sign);
  const value = evaluated(expression, rounds);
  if (target.name === 'VariableName') addTo(rounds, rounds.text(target), operator, value, mask);
  else {
    const { base } = subscriptsOf(target, rounds.source);
    if (rounds.isOf('whole', rounds.text(base)) && !isWhole(rounds, expression))
      throw new Refusal('fractions that are cut off in every round');
    store(rounds, target, operator, value, mask);
  }
}

/** Whether an expression gives whole numbers, as far as the syntax shows: of whole numbers, without division. */
function isWhole(rounds: Rounds, expression: SyntaxNode): boolean {
  if (!/^[\w\s+\-*,()[\]<>=!]+$/.test(rounds.text(expression)) || expression.name === 'CallExpression')
    return false;
  if (nodesOf(expression, 'CallExpression').length > 0) return false;
  return nodesOf(expression, 'VariableName').every((node) => {
    const name = rounds.text(node);
    return rounds.isOf('whole', name) || rounds.loops.some((loop) => nameOfLoop(loop) === name);
  });
}

/** `total += value`, and `mean /= count` once the sum is complete. */
function addTo(rounds: Rounds, name: string, operator: string, value: Value, mask: Operand | null): void {
  const variable = rounds.variables.get(name);
  const isScaled = /^[*/]=$/.test(operator) && mask === null;
  if (variable === undefined || !isScaled || rounds.openedSince(variable).length > 0) {
    gather(rounds, name, operator, rounds.settled(name, value), mask);
    return;
  }
  const operands = [variable.value, value].map((each) => materialised(each, rounds));
  const scaled = rounds.each(operands, (codes) => codes.map(atom).join(` ${operator[0]} `));
  assign(rounds, name, single(scaled), null);
}

/** What one branch of an `if` gives to names that have no value before. */
interface Branch {
  test: Operand | null;
  locals: ReadonlyMap<string, Variable>;
}

function condition(rounds: Rounds, node: SyntaxNode, mask: Operand | null): void {
  if (best(rounds, node, mask)) return;
  let remaining = mask;
  const children = childrenOf(node);
  const bodies = children.flatMap((child, place) => (child.name === 'Body' ? [place] : []));
  const tests = bodies.flatMap((place) => {
    const test = children[place - 1];
    return test === undefined || test.name === 'else' ? [] : [test];
  });
  const branches: Branch[] = [];
  for (const [turn, place] of bodies.entries()) {
    const body = children[place];
    const asked = tests[turn];
    if (body === undefined) throw new Refusal('a broken condition');
    guarded(rounds, tests.slice(0, turn + 1), () => {
      const test = asked === undefined ? null : truthOf(rounds, asked);
      const here = test === null ? remaining : both(rounds, remaining, test);
      const locals = rounds.locals(() => statements(rounds, childrenOf(body), here));
      branches.push({ test, locals });
      if (test !== null) remaining = both(rounds, remaining, not(rounds, test));
    });
  }
  joined(rounds, branches);
}

/** Names that every branch gives a value to have one afterwards. */
function joined(rounds: Rounds, branches: readonly Branch[]): void {
  const last = branches.at(-1);
  if (last === undefined || last.test !== null) return;
  for (const [name, { value }] of last.locals) {
    const values = branches.map(({ locals }) => locals.get(name)?.value);
    if (values.some((each) => each === undefined)) continue;
    const chosen = branches.slice(0, -1).reduceRight((rest, { test, locals }) => {
      const own = locals.get(name)?.value;
      if (test === null || own === undefined) throw new Refusal('a broken condition');
      const operands = [test, materialised(own, rounds), rest];
      return rounds.each(operands, (codes) => `${rounds.np}.where(${codes.join(', ')})`);
    }, materialised(value, rounds));
    rounds.set(name, rounds.kept(name, single(chosen)));
  }
}

/** Whether a condition compares the numbers of loops with where arrays end. */
function isGuard(rounds: Rounds, test: SyntaxNode): boolean {
  const compared = [test, ...nodesOf(test, 'BinaryExpression')].filter((node) => node.name === 'BinaryExpression');
  return compared.some((node) => {
    const sign = rounds.text(childrenOf(node)[1] ?? node);
    if (!comparisons.test(sign) || sign === '!=') return false;
    const names = new Set(
      [node, ...nodesOf(node, 'VariableName')]
        .filter(({ name }) => name === 'VariableName')
        .map((each) => rounds.text(each))
        .filter((name) => (rounds.variables.get(name)?.value.affine?.terms.size ?? 0) > 0),
    );
    return names.size === 1 || (names.size > 0 && sign !== '==');
  });
}

function not(rounds: Rounds, test: Operand): Operand {
  return rounds.each([test], ([code]) => `${rounds.np}.logical_not(${code})`);
}

function truthOf(rounds: Rounds, node: SyntaxNode): Operand {
  const test = materialised(rounds.settled('test', evaluatedTruth(node, rounds)), rounds);
  return materialised(rounds.kept('test', single(test)), rounds);
}

function both(rounds: Rounds, left: Operand | null, right: Operand): Operand {
  if (left === null) return right;
  return rounds.each([left, right], (codes) => `${rounds.np}.logical_and(${codes.join(', ')})`);
}
