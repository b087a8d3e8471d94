import { childrenOf, nodesOf, type SyntaxNode, textOf } from '../../python-source.ts';
import { assignment, update } from './assignments.ts';
import { both, condition, guarded, not, skipped, truthOf } from './conditions.ts';
import { earlyEnd, untilDone } from './early-ends.ts';
import { materialised } from './expressions.ts';
import { append, listOf } from './lists.ts';
import { open } from './loop-headers.ts';
import { assignedIn, isUsedLater } from './nest.ts';
import { Rounds, type Script } from './rounds.ts';
import { iteratedBy, targetsOf } from './syntax.ts';
import { type Operand, Refusal } from './values.ts';

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
  for (const each of nodesOf(loop, 'ForStatement')) {
    const iterated = iteratedBy(each);
    const [target, ...more] = targetsOf(each).map((node) => textOf(script.source, node));
    if (iterated?.name !== 'VariableName' || target === undefined || more.length > 0) continue;
    // What is gone through, measured, summed up or asked for a part is a row.
    const whole = `(?:linalg\\.norm|sum|dot|mean|std|var|median|max|min|argmax|argmin)`;
    const asRow = new RegExp(
      `\\b${target}\\[|\\bin ${target}\\b|\\b(?:len|sum|max|min)\\(${target}\\)|` +
        `\\b${script.np}\\.${whole}\\(.*\\b${target}\\b|\\b${target}\\.${whole}\\(`,
    );
    const name = textOf(script.source, iterated);
    if (asRow.test(textOf(script.source, each))) lengths.set(name, Math.max(2, lengths.get(name) ?? 0));
  }
  for (const [name, length] of lengths) if (!ranks.has(name)) ranks.set(name, length + more);
  return ranks;
}

/** What the loops do, and what they leave behind. */
function linesOf(rounds: Rounds): string[] {
  rounds.listed = (node) => listOf(rounds, node);
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
    const skip = skipped(statement);
    if (skip === null) {
      oneStatement(rounds, statement, mask);
      continue;
    }
    const rest = body.slice(place + 1);
    guarded(rounds, [skip.test], () => {
      const test = truthOf(rounds, skip.test);
      rounds.locals(() => statements(rounds, skip.before, both(rounds, mask, test)));
      rounds.locals(() => statements(rounds, rest, both(rounds, mask, not(rounds, test))));
    });
    return;
  }
}

/** @param mask in which rounds it is done; null for all */
function oneStatement(rounds: Rounds, node: SyntaxNode, mask: Operand | null): void {
  switch (node.name) {
    case ':':
    case 'Comment':
    case 'PassStatement':
      return;
    case 'ForStatement':
    case 'WhileStatement':
      loop(rounds, node, mask);
      break;
    case 'AssignStatement':
      assignment(rounds, node, mask);
      break;
    case 'UpdateStatement':
      update(rounds, node, mask);
      break;
    case 'IfStatement':
      condition(rounds, node, mask, statements);
      break;
    case 'ExpressionStatement':
      append(rounds, node, mask);
      break;
    default:
      throw new Refusal(`a ${node.name}`);
  }
}

function loop(rounds: Rounds, node: SyntaxNode, mask: Operand | null): void {
  const early = earlyEnd(rounds, node);
  if (early !== null) {
    if (mask !== null) throw new Refusal('a loop that may end early, in some rounds alone');
    untilDone(rounds, node, early, statements);
    return;
  }
  const children = childrenOf(node);
  const bodies = children.filter(({ name }) => name === 'Body');
  const [body] = bodies;
  const iterated = iteratedBy(node);
  if (body === undefined || bodies.length > 1 || iterated === undefined || children[0]?.name !== 'for')
    throw new Refusal('a loop with an else');
  const names = targetsOf(node).map((target) => rounds.text(target));
  const some = open(rounds, { names, changes: assignedIn(node, rounds.source) }, iterated);
  const inside = () => statements(rounds, childrenOf(body), some === null ? mask : both(rounds, mask, some));
  if (some === null) inside();
  else guarded(rounds, null, () => rounds.locals(inside));
  const closed = rounds.loops.pop();
  for (const [name, variable] of [...rounds.variables]) {
    const { value, isOuter, gatheredOver } = variable;
    if (value.affine?.terms.has(closed?.label ?? '') === true && !isOuter) rounds.forget(name);
    // Sums that are complete: worked out once, however often they are read.
    else if (gatheredOver[0] !== undefined && gatheredOver[0] === closed?.label)
      rounds.variables.set(name, {
        ...variable,
        ...{ value: rounds.kept(name, value), gatheredOver: [], running: null, isExtreme: false },
      });
  }
}
