import { childrenOf, nodesOf, type SyntaxNode } from '../../python-source.ts';
import { comparisons } from './arithmetic.ts';
import { evaluatedTruth, materialised } from './expressions.ts';
import { best } from './extremes.ts';
import type { Rounds, Variable } from './rounds.ts';
import { statementsIn } from './syntax.ts';
import { isTruth } from './truth.ts';
import { type Operand, Refusal, single } from './values.ts';

/** Does statements in the rounds of a mask. */
export type Work = (rounds: Rounds, body: readonly SyntaxNode[], mask: Operand | null) => void;

/** An `if` that ends with `continue`: what it asks, and what it does before. */
export function skipped(statement: SyntaxNode): { test: SyntaxNode; before: readonly SyntaxNode[] } | null {
  const [, test, body, ...others] = statement.name === 'IfStatement' ? childrenOf(statement) : [];
  if (test === undefined || body === undefined || others.length > 0) return null;
  const inside = statementsIn(body);
  return inside.at(-1)?.name === 'ContinueStatement' ? { test, before: inside.slice(0, -1) } : null;
}

/** Works where conditions may be all that keeps subscripts inside their arrays; null for bounds of a loop. */
export function guarded(rounds: Rounds, tests: readonly SyntaxNode[] | null, work: () => void): void {
  const before = rounds.guarded;
  if (tests === null || tests.some((test) => isGuard(rounds, test))) rounds.guarded = 'all';
  else if (before === 'none') rounds.guarded = 'lookups';
  work();
  rounds.guarded = before;
}

/** What one branch of an `if` gives to names that have no value before. */
interface Branch {
  test: Operand | null;
  locals: ReadonlyMap<string, Variable>;
}

export function condition(rounds: Rounds, node: SyntaxNode, mask: Operand | null, statements: Work): void {
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
      const inside = childrenOf(body);
      // What stands after the condition would have to be gone past, too.
      if (inside.some((each) => skipped(each) !== null)) throw new Refusal('a continue in a condition');
      const locals = rounds.locals(() => statements(rounds, inside, here));
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
    const chosen = branches.slice(0, -1).reduceRight(
      (rest, { test, locals }) => {
        const own = locals.get(name)?.value;
        if (test === null || own === undefined) throw new Refusal('a broken condition');
        const operands = [test, materialised(own, rounds), rest];
        return rounds.each(operands, (codes) => `${rounds.np}.where(${codes.join(', ')})`);
      },
      materialised(value, rounds),
    );
    rounds.set(name, rounds.kept(name, single(chosen)));
  }
}

/** Whether a condition compares the numbers of loops with where arrays end. */
function isGuard(rounds: Rounds, test: SyntaxNode): boolean {
  const compared = [test, ...nodesOf(test, 'BinaryExpression')].filter(
    (node) => node.name === 'BinaryExpression',
  );
  return compared.some((node) => {
    const sign = rounds.text(childrenOf(node)[1] ?? node);
    if (!comparisons.test(sign) || sign === '!=') return false;
    const names = new Set(
      [node, ...nodesOf(node, 'VariableName')]
        .filter(({ name }) => name === 'VariableName')
        .map((each) => rounds.text(each))
        .filter(
          (name) =>
            rounds.around.has(name) || (rounds.variables.get(name)?.value.affine?.terms.size ?? 0) > 0,
        ),
    );
    return names.size === 1 || (names.size > 0 && sign !== '==');
  });
}

export function not(rounds: Rounds, test: Operand): Operand {
  return rounds.each([test], ([code]) => `${rounds.np}.logical_not(${code})`);
}

export function truthOf(rounds: Rounds, node: SyntaxNode): Operand {
  const test = materialised(rounds.settled('test', evaluatedTruth(node, rounds)), rounds);
  const code = isTruth(node, rounds.source) ? test.code : `${rounds.np}.asarray(${test.code}, dtype=bool)`;
  return materialised(rounds.kept('test', single({ ...test, code })), rounds);
}

export function both(rounds: Rounds, left: Operand | null, right: Operand): Operand {
  if (left === null) return right;
  return rounds.each([left, right], (codes) => `${rounds.np}.logical_and(${codes.join(', ')})`);
}
