import { childrenOf, nodesOf, type SyntaxNode } from '../../python-source.ts';
import { atom } from './arithmetic.ts';
import type { Work } from './conditions.ts';
import { evaluatedTruth, materialised, operandOf } from './expressions.ts';
import { assignedIn, statementTargets } from './nest.ts';
import type { Rounds } from './rounds.ts';
import { labelsOf } from './scope.ts';
import { calledIn, givenTo, iteratedBy, statementsIn, targetsOf } from './syntax.ts';
import { isTruth } from './truth.ts';
import { arranged, countOf, isOwn, type Operand, Refusal, single } from './values.ts';

/** A loop inside of others that may end sooner for one of their rounds than for another. */
interface EarlyEnd {
  /** Must hold for another turn; null for a loop over a range. */
  test: SyntaxNode | null;
  /** What a loop over a range counts. */
  counter: { name: string; first: SyntaxNode | null; end: SyntaxNode } | null;
  before: readonly SyntaxNode[];
  /** Of `if …: break`; null for none. */
  stop: SyntaxNode | null;
  /** What is done before that `break`. */
  leaving: readonly SyntaxNode[];
  after: readonly SyntaxNode[];
}

/** A `while`, or a loop over a range with an `if …: break` of its own; null for others. */
export function earlyEnd(rounds: Rounds, node: SyntaxNode): EarlyEnd | null {
  const children = childrenOf(node);
  const bodies = children.filter(({ name }) => name === 'Body');
  const inside = statementsIn(bodies[0] ?? node);
  const place = inside.findIndex((each) => stopOf(each) !== null);
  const stop = place < 0 ? null : stopOf(inside[place] ?? node);
  const parts = {
    before: place < 0 ? inside : inside.slice(0, place),
    stop: stop?.test ?? null,
    leaving: stop?.leaving ?? [],
    after: place < 0 ? [] : inside.slice(place + 1),
  };
  if (bodies.length !== 1) return null;
  if (node.name === 'WhileStatement') return { test: children[1] ?? null, counter: null, ...parts };
  const iterated = iteratedBy(node);
  if (stop === null || iterated === undefined || calledIn(rounds.source, iterated) !== 'range') return null;
  const names = targetsOf(node).map((target) => rounds.text(target));
  const bounds = givenTo(iterated);
  const [name] = names;
  const end = bounds.at(-1);
  if (name === undefined || end === undefined || names.length > 1 || bounds.length > 2) return null;
  return {
    test: null,
    counter: { name, first: bounds.length > 1 ? (bounds[0] ?? null) : null, end },
    ...parts,
  };
}

/** What `if …: break` asks, and what it does before. */
function stopOf(node: SyntaxNode): { test: SyntaxNode; leaving: readonly SyntaxNode[] } | null {
  const [, test, body, ...others] = node.name === 'IfStatement' ? childrenOf(node) : [];
  if (test === undefined || body === undefined || others.length > 0) return null;
  const inside = statementsIn(body);
  const leaving = inside.slice(0, -1);
  const isPlain = leaving.every(({ name }) => name === 'AssignStatement');
  return inside.at(-1)?.name === 'BreakStatement' && isPlain ? { test, leaving } : null;
}

/**
 * All rounds of the loops around go on together, until the last one is done; those that are done stay as they are. Refuses
 * what does more than give names new numbers.
 */
export function untilDone(rounds: Rounds, node: SyntaxNode, loop: EarlyEnd, statements: Work): void {
  checkSimple(rounds, node, loop);
  const { np } = rounds;
  const { counter } = loop;
  // Others are given a value in every turn before they are read: nothing is left of them.
  const names = [...assignedIn(node, rounds.source)].filter(
    (name) => name === counter?.name || rounds.variables.has(name),
  );
  const holders = hold(rounds, names, counter);
  const count = holders.get(counter?.name ?? '') ?? '';
  const end = counter === null ? '' : atom(spread(rounds, operandOf(counter.end, rounds)));
  const goesOn = loop.test === null ? `${count} < ${end}` : truth(rounds, loop.test);
  const running = rounds.freshName('running');
  rounds.lines.push(`${running} = ${whole(rounds, goesOn)}`);

  const known = rounds.lines.length;
  const { results, stopped } = oneTurn(rounds, loop, names, count, statements);
  const inside = rounds.lines.splice(known);
  const chosen = results.map(
    (result, at) => `${np}.where(${running}, ${result}, ${holders.get(names[at] ?? '')})`,
  );
  const still = stopped === null ? running : `${np}.logical_and(${running}, ${np}.logical_not(${stopped}))`;
  const turn = [
    ...inside,
    `${[...holders.values()].join(', ')} = ${chosen.join(', ')}`,
    `${running} = ${np}.logical_and(${still}, ${goesOn})`,
  ];
  rounds.lines.push(`while ${np}.any(${running}):`, ...turn.map((line) => `    ${line}`));
  // A range that came to its end leaves its last number.
  if (counter !== null) rounds.lines.push(`${count} = ${np}.minimum(${count}, ${end} - 1)`);
  for (const [name, holder] of holders) rounds.set(name, single({ code: holder, axes: labelsOf(rounds) }));
}

function checkSimple(rounds: Rounds, node: SyntaxNode, { before, after }: EarlyEnd): void {
  const targets = statementTargets(node);
  const inner = [...before, ...after].flatMap((each) => [
    ...nodesOf(each, 'ForStatement'),
    ...nodesOf(each, 'WhileStatement'),
  ]);
  if (rounds.loops.length === 0 || inner.length > 0 || targets.some(({ name }) => name !== 'VariableName'))
    throw new Refusal('a loop that may end early');
}

/** Gives every name an array with a place for each round; which, by name. */
function hold(rounds: Rounds, names: readonly string[], counter: EarlyEnd['counter']): Map<string, string> {
  const starts = names.map((name) => {
    if (name !== counter?.name) return readNow(rounds, name);
    return counter.first === null ? { code: '0', axes: [] } : operandOf(counter.first, rounds);
  });
  return new Map(
    names.map((name, at) => {
      const holder = rounds.freshName(name);
      rounds.lines.push(
        `${holder} = ${whole(rounds, spread(rounds, starts[at] ?? { code: '0', axes: [] }))}`,
      );
      rounds.set(name, single({ code: holder, axes: labelsOf(rounds) }));
      return [name, holder];
    }),
  );
}

/** What every name comes to in one turn, and the name of what says which rounds stop in it. */
function oneTurn(
  rounds: Rounds,
  { counter, before, stop, leaving, after }: EarlyEnd,
  names: readonly string[],
  count: string,
  statements: Work,
): { results: string[]; stopped: string | null } {
  const { np } = rounds;
  const stopped = stop === null ? null : rounds.freshName('stopped');
  const codes = () => names.map((name) => spread(rounds, readNow(rounds, name)));
  let results: string[] = [];
  rounds.locals(() => {
    statements(rounds, before, null);
    if (stop !== null) rounds.lines.push(`${stopped} = ${truth(rounds, stop)}`);
    const going = new Map(rounds.variables);
    statements(rounds, leaving, null);
    const middle = codes();
    for (const [name, variable] of going) rounds.variables.set(name, variable);
    statements(rounds, after, null);
    results = codes().map((last, at) => {
      if (names[at] !== counter?.name)
        return middle[at] === last ? last : `${np}.where(${stopped}, ${middle[at]}, ${last})`;
      if (last !== count) throw new Refusal('a number that the loop changes');
      return `${np}.where(${stopped}, ${count}, ${count} + 1)`;
    });
  });
  return { results, stopped };
}

function readNow(rounds: Rounds, name: string): Operand {
  const value = rounds.read(name);
  if (value === null) throw new Refusal('a value from outside');
  return materialised(value, rounds);
}

function truth(rounds: Rounds, asked: SyntaxNode): string {
  const code = spread(rounds, materialised(evaluatedTruth(asked, rounds), rounds));
  return isTruth(asked, rounds.source) ? code : `${rounds.np}.asarray(${code}, dtype=bool)`;
}

/** With an axis for each of the loops around. */
function spread(rounds: Rounds, operand: Operand): string {
  if (operand.axes.some(isOwn)) throw new Refusal('a loop over rows that may end early');
  return arranged(operand, labelsOf(rounds));
}

/** A copy with a place for each round of the loops around. */
function whole({ np, loops }: Rounds, code: string): string {
  const shape = `(${loops.map(countOf).join(', ')}${loops.length === 1 ? ',' : ''})`;
  return `${np}.array(${np}.broadcast_to(${code}, ${shape}))`;
}
