import { isOutOfBounds, isSplittingCall, type Named, nameOf } from './places.ts';
import { isEvaluationName, isKnownName, type Prior, priorFor } from './priors.ts';
import { calleeName, nodesOf, parsePython, type SyntaxNode, textOf } from './python-source.ts';

/** A number in a script that may be changed. */
export interface Knob {
  /** As the script names it. */
  name: string;
  /** Range of the literal in the source, in UTF-16 units. */
  from: number;
  to: number;
  literal: string;
  value: number;
  /** Line of the script, from 1. */
  line: number;
  prior: Prior;
}

/** Every number that is worth changing, in the order of the source. Never throws, whatever the text. */
export function findKnobs(source: string): Knob[] {
  const top = parsePython(source);
  const places = Map.groupBy(nodesOf(top, 'VariableName'), (node) => textOf(source, node));
  // Determined once for each variable, however many numbers are assigned to it.
  const uses = new Map<string, VariableUse>();
  const useOf = (variable: string) => {
    const use = uses.get(variable) ?? useAt(source, places.get(variable) ?? []);
    uses.set(variable, use);
    return use;
  };
  const knobs: Knob[] = [];
  for (const node of nodesOf(top, 'Number')) {
    const literal = textOf(source, node);
    const value = numberValue(literal);
    if (value === null || isOutOfBounds(source, node)) continue;
    const found = priorOf(source, node, value, useOf);
    if (found === null) continue;
    knobs.push({ ...found, from: node.from, to: node.to, literal, value, line: lineAt(source, node.from) });
  }
  return knobs;
}

function lineAt(source: string, place: number): number {
  return source.slice(0, place).split('\n').length;
}

/** The prior of a number by its name, or by the uses of the variable that it is assigned to. */
function priorOf(
  source: string,
  node: SyntaxNode,
  value: number,
  useOf: (variable: string) => VariableUse,
): Pick<Knob, 'name' | 'prior'> | null {
  const named = nameOf(source, node);
  if (named === null) return null;
  const use = named.variable ? useOf(named.name) : null;
  if (use?.isForEvaluation === true) return null;
  // A constant may have its own name: TREES says less than the n_estimators=TREES where it is used.
  const meant = isKnownName(named.name) ? named : (use?.meant ?? null);
  const isWhole = /^[\d_]+$/.test(textOf(source, node));
  const prior = meant === null ? null : priorFor(meant.name, meant.callee, value, isWhole);
  return prior === null ? null : { name: named.name, prior };
}

/** What the places where a variable is used say of it. */
interface VariableUse {
  isForEvaluation: boolean;
  /** A name under which it is used that says what it is. */
  meant: Named | null;
}

function useAt(source: string, places: readonly SyntaxNode[]): VariableUse {
  const names = places.map((place) => nameOf(source, place));
  return {
    isForEvaluation: places.some((place) => isForEvaluation(source, place)),
    meant: names.find((each) => each !== null && isKnownName(each.name)) ?? null,
  };
}

/** Whether a use of a variable decides how a version is measured: changed, it would only make the score look better. */
function isForEvaluation(source: string, use: SyntaxNode): boolean {
  const call = use.parent?.name === 'ArgList' ? use.parent.parent : null;
  if (call !== null && isSplittingCall(calleeName(source, call))) return true;
  const name = nameOf(source, use)?.name ?? '';
  return !isKnownName(name) && isEvaluationName(name);
}

/** The value of a plain decimal literal; null for hexadecimal, complex and invalid ones. */
function numberValue(literal: string): number | null {
  if (!/^(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][-+]?\d+)?$/.test(literal)) return null;
  const value = Number(literal.replaceAll('_', ''));
  return Number.isFinite(value) && !/^0\d/.test(literal) ? value : null;
}
