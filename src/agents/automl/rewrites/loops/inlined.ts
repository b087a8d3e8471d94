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
import { hasOwnLines, indentOf, linesBefore } from '../python-edit.ts';
import { assignedIn, statementTargets } from './nest.ts';
import { calledIn, givenTo, isNotAlways, statementsIn, targetsOf } from './syntax.ts';

/** A function of the script that can be written out where it is called. */
interface OwnFunction {
  name: string;
  parameters: readonly string[];
  statements: readonly SyntaxNode[];
  /** What it gives back, by the conditions before it: all but the last have one. */
  results: readonly { test: SyntaxNode | null; value: SyntaxNode }[];
  /** A loop that is its last statement may give back something sooner. */
  early: { loop: SyntaxNode; returned: SyntaxNode; value: SyntaxNode } | null;
  /** Names that its statements give values to. */
  assigned: ReadonlySet<string>;
  /** All names in it. */
  used: ReadonlySet<string>;
}

const most = 20;

/**
 * Calls of the script's own functions inside of loops, with what the functions do in their place, so that the rules for loops
 * see it. Null where there is none, or where a name is taken.
 */
export function withInlinedCalls(source: string): string | null {
  let text = source;
  for (let number = 1; number <= most; number += 1) {
    const next = withOneCallLess(text, number);
    if (next === null) break;
    text = next;
  }
  return text === source ? null : text;
}

function withOneCallLess(source: string, number: number): string | null {
  const top = parsePython(source);
  const functions = new Map(
    top.getChildren('FunctionDefinition').flatMap((node) => {
      const found = ownFunction(source, node);
      return found === null ? [] : [[found.name, found] as const];
    }),
  );
  for (const call of nodesOf(top, 'CallExpression')) {
    const called = functions.get(calledIn(source, call));
    const given = givenTo(call);
    if (called === undefined || given.length !== called.parameters.length) continue;
    if (given.some(({ name }) => name === 'AssignOp' || name === '*' || name === 'for')) continue;
    const statement = statementBefore(source, call);
    const ending = `_in_${called.name}_${number}`;
    if (statement === null || source.includes(ending) || meansOtherwise(source, call, called)) continue;
    const { lines, value } = writtenOut(source, called, given, ending);
    return splice(source, [
      linesBefore(source, statement, lines),
      { from: call.from, to: call.to, text: `(${value})` },
    ]);
  }
  return null;
}

/** Whether a name from around a function is one of the caller's own: written out there, it would mean another thing. */
function meansOtherwise(
  source: string,
  call: SyntaxNode,
  { parameters, assigned, used }: OwnFunction,
): boolean {
  const caller = ancestorsOf(call).find(({ name }) => name === 'FunctionDefinition');
  if (caller === undefined) return false;
  const given = caller.getChild('ParamList')?.getChildren('VariableName') ?? [];
  const own = new Set([...assignedIn(caller, source), ...given.map((each) => textOf(source, each))]);
  return [...used].some((name) => own.has(name) && !parameters.includes(name) && !assigned.has(name));
}

/** The statement in a loop that always makes a call, once; null for others. */
function statementBefore(source: string, call: SyntaxNode): SyntaxNode | null {
  const ancestors = ancestorsOf(call);
  const end = ancestors.findIndex(({ name }) => /Statement$/.test(name));
  const statement = ancestors[end];
  if (statement === undefined || !hasOwnLines(source, statement)) return null;
  const isPlain = /^(?:Assign|Update|Return|Expression)Statement$/.test(statement.name);
  const tested = statement.name === 'IfStatement' ? childrenOf(statement)[1] : undefined;
  const isTest = tested !== undefined && call.from >= tested.from && call.to <= tested.to;
  const isAlways = !ancestors.slice(0, end).some(isNotAlways);
  const isInLoop = ancestors.slice(end + 1).some(({ name }) => /^(?:For|While)Statement$/.test(name));
  return (isPlain || isTest) && isAlways && isInLoop ? statement : null;
}

/** Null for functions that do more than work out a value. */
function ownFunction(source: string, node: SyntaxNode): OwnFunction | null {
  const [name] = node.getChildren('VariableName').map((each) => textOf(source, each));
  const list = node.getChild('ParamList');
  const body = node.getChild('Body');
  if (name === undefined || list === null || body === null) return null;
  const parameters = childrenOf(list).filter((each) => !/^[(),]$/.test(each.name));
  if (parameters.some((each) => each.name !== 'VariableName')) return null;
  const inside = statementsIn(body).filter((each) => !isText(each));
  const first = inside.findIndex((each) => returnsOf(each).length > 0);
  const early = earlyReturn(source, inside[first]);
  const last = early === null ? first : first + 1;
  const statements = inside.slice(0, Math.max(0, last));
  const results = first < 0 ? null : resultsOf(inside.slice(last));
  const isRecursive = nodesOf(body, 'CallExpression').some((call) => calledIn(source, call) === name);
  const doesMore = statements.some((each) => !/^(?:Assign|Update|If|For|While)Statement$/.test(each.name));
  const targets = [...statementTargets(body), ...nodesOf(body, 'ForStatement').flatMap(targetsOf)];
  const isPlain = targets.every((each) => each.name === 'VariableName');
  const scopes = [
    'LambdaExpression',
    'FunctionDefinition',
    'ArrayComprehensionExpression',
    'YieldExpression',
  ];
  const hasScopes = scopes.some((kind) => nodesOf(body, kind).length > 0);
  if (results === null || isRecursive || doesMore || !isPlain || hasScopes) return null;
  // What is given back at last must be known before the loop.
  const isKnown =
    early === null || (results.length === 1 && isWithout(source, results[0]?.value, early.loop));
  if (!isKnown) return null;
  return {
    name,
    early,
    parameters: parameters.map((each) => textOf(source, each)),
    statements,
    results,
    assigned: new Set(targets.map((each) => textOf(source, each))),
    used: new Set(nodesOf(body, 'VariableName').map((each) => textOf(source, each))),
  };
}

/** A loop with one `if …: return value` of its own. */
function earlyReturn(source: string, loop: SyntaxNode | undefined): OwnFunction['early'] {
  const [returned, ...more] = loop === undefined ? [] : returnsOf(loop);
  const value = returned?.lastChild;
  if (loop === undefined || returned === undefined || value == null || value.name === 'return') return null;
  const [body, condition, ...around] = ancestorsOf(returned);
  const isOwn = condition?.name === 'IfStatement' && around[1]?.from === loop.from;
  const isAlone = body?.getChildren('ReturnStatement').length === 1 && childrenOf(body).length === 2;
  if (!/^(?:For|While)Statement$/.test(loop.name) || !isOwn || !isAlone || more.length > 0) return null;
  return hasOwnLines(source, returned) ? { loop, returned, value } : null;
}

/** Whether an expression uses nothing that a loop gives a value to. */
function isWithout(source: string, value: SyntaxNode | undefined, loop: SyntaxNode): boolean {
  if (value === undefined) return false;
  const changed = assignedIn(loop, source);
  return nodesOf(value, 'VariableName').every((name) => !changed.has(textOf(source, name)));
}

function isText(node: SyntaxNode): boolean {
  return node.name === 'ExpressionStatement' && node.firstChild?.name === 'String';
}

function returnsOf(node: SyntaxNode): SyntaxNode[] {
  return nodesOf(node, 'ReturnStatement');
}

/** `if a: return x`, … and `return y` at the end; null for anything else. */
function resultsOf(statements: readonly SyntaxNode[]): OwnFunction['results'] | null {
  const results: { test: SyntaxNode | null; value: SyntaxNode }[] = [];
  for (const [place, statement] of statements.entries()) {
    if (results.some(({ test }) => test === null)) return null;
    if (statement.name === 'ReturnStatement') {
      const value = statement.lastChild;
      if (value === null || value.name === 'return' || place < statements.length - 1) return null;
      results.push({ test: null, value });
      continue;
    }
    const children = statement.name === 'IfStatement' ? childrenOf(statement) : [];
    if (children.length === 0) return null;
    for (const [at, child] of children.entries()) {
      if (child.name !== 'Body') continue;
      const inside = statementsIn(child);
      const value = inside[0]?.lastChild;
      if (
        inside.length !== 1 ||
        inside[0]?.name !== 'ReturnStatement' ||
        value == null ||
        value.name === 'return'
      )
        return null;
      const test = children[at - 1];
      results.push({ test: test === undefined || test.name === 'else' ? null : test, value });
    }
  }
  return results.at(-1)?.test === null ? results : null;
}

/** The statements of a function with other names, and its result. */
function writtenOut(
  source: string,
  { parameters, statements, results, early, assigned }: OwnFunction,
  given: readonly SyntaxNode[],
  ending: string,
): { lines: string[]; value: string } {
  const names = new Map([...assigned].map((name) => [name, `${name}${ending}`]));
  const lines: string[] = [];
  for (const [place, parameter] of parameters.entries()) {
    const argument = given[place];
    const text = argument === undefined ? '' : textOf(source, argument);
    const isAtom = argument !== undefined && /^(?:VariableName|Number)$/.test(argument.name);
    names.set(parameter, isAtom && !assigned.has(parameter) ? text : `${parameter}${ending}`);
    if (!isAtom || assigned.has(parameter))
      lines.push(`${parameter}${ending} = ${text.replace(/\s*\n\s*/g, ' ')}`);
  }
  const text = (node: SyntaxNode) => inOtherNames(source, node, names).replace(/\s*\n\s*/g, ' ');
  const result = `result${ending}`;
  for (const statement of statements) {
    const indent = indentOf(source, statement);
    const edits: Edit[] = [];
    if (early !== null && statement === early.loop) {
      lines.push(`${result} = ${results.map(({ value }) => text(value)).join()}`);
      const { from, to } = early.returned;
      const stop = `\n${indentOf(source, early.returned)}break`;
      const end = from + textOf(source, early.returned).trimEnd().length;
      edits.push({ from, to: Math.min(to, end), text: `${result} = ${text(early.value)}${stop}` });
    }
    lines.push(
      ...inOtherNames(source, statement, names, edits)
        .trimEnd()
        .split('\n')
        .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line)),
    );
  }
  if (early !== null) return { lines, value: result };
  const value = results.reduceRight(
    (rest, result) =>
      result.test === null
        ? text(result.value)
        : `(${text(result.value)}) if ${text(result.test)} else (${rest})`,
    '',
  );
  return { lines, value };
}

/** The text of a node with other names for what it reads and gives values to, and other edits; keywords of calls stay. */
export function inOtherNames(
  source: string,
  node: SyntaxNode,
  names: ReadonlyMap<string, string>,
  others: readonly Edit[] = [],
): string {
  const edits = nodesOf(node, 'VariableName').flatMap((each): Edit[] => {
    const isKeyword = each.parent?.name === 'ArgList' && each.nextSibling?.name === 'AssignOp';
    const isCovered = others.some(({ from, to }) => each.from >= from && each.to <= to);
    const text = isKeyword || isCovered ? undefined : names.get(textOf(source, each));
    return text === undefined ? [] : [{ from: each.from - node.from, to: each.to - node.from, text }];
  });
  const moved = others.map((edit) => ({ ...edit, from: edit.from - node.from, to: edit.to - node.from }));
  return splice(textOf(source, node), [...edits, ...moved]);
}
