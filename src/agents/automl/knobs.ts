import { isOutOfBounds, isSplittingCall, type Named, nameOf } from './places.ts';
import { isEvaluationName, isKnownName, type Prior, plainName, priorFor } from './priors.ts';
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

/** A number that only chooses among equally good runs. */
export interface Seed {
  from: number;
  to: number;
  /** Python for the seed raised by an offset. */
  raised(offset: number): string;
}

/** Every number that is worth changing, in the order of the source. Never throws, whatever the text. */
export function findKnobs(source: string): Knob[] {
  const top = parsePython(source);
  const variables = Map.groupBy(nodesOf(top, 'VariableName'), (node) => textOf(source, node));
  const knobs: Knob[] = [];
  for (const node of nodesOf(top, 'Number')) {
    const literal = textOf(source, node);
    const value = numberValue(literal);
    if (value === null || isOutOfBounds(source, node)) continue;
    const found = priorOf(source, node, value, variables);
    if (found === null) continue;
    const line = source.slice(0, node.from).split('\n').length;
    knobs.push({ ...found, from: node.from, to: node.to, literal, value, line });
  }
  return knobs;
}

/** The prior of a number by its name, or by the uses of the variable that it is assigned to. */
function priorOf(
  source: string,
  node: SyntaxNode,
  value: number,
  variables: ReadonlyMap<string, readonly SyntaxNode[]>,
): Pick<Knob, 'name' | 'prior'> | null {
  const named = nameOf(source, node);
  if (named === null) return null;
  const uses = named.variable ? usesOf(source, variables.get(named.name) ?? []) : [];
  if (uses.some(({ isOfEvaluation }) => isOfEvaluation)) return null;
  // A constant may have its own name: TREES says less than the n_estimators=TREES where it is used.
  const meant = [named, ...uses].find(({ name }) => isKnownName(name));
  if (meant === undefined) return null;
  const prior = priorFor({ ...meant, value, whole: /^[\d_]+$/.test(textOf(source, node)) });
  return prior === null ? null : { name: named.name, prior };
}

interface Use extends Named {
  /** It decides how a version is measured, so it must not be changed to make the score look better. */
  isOfEvaluation: boolean;
}

/** The arguments that a variable is passed as. */
function usesOf(source: string, nodes: readonly SyntaxNode[]): Use[] {
  return nodes.flatMap((node) => {
    const call = node.parent?.name === 'ArgList' ? node.parent.parent : null;
    const splits = call !== null && isSplittingCall(calleeName(source, call));
    const named = nameOf(source, node) ?? { name: '', callee: '', variable: false };
    const isOfEvaluation = splits || (!isKnownName(named.name) && isEvaluationName(named.name));
    return [{ ...named, isOfEvaluation }];
  });
}

/** Every place where a random generator is seeded. */
export function findSeeds(source: string): Seed[] {
  const top = parsePython(source);
  const seeds: Seed[] = [];
  for (const node of nodesOf(top, 'Number')) {
    const literal = textOf(source, node);
    if (!/^\d{1,9}$/.test(literal) || !isSeed(source, node)) continue;
    seeds.push({ from: node.from, to: node.to, raised: (offset) => String(Number(literal) + offset) });
  }
  // SEED = int(os.environ.get("SEED", "0"))
  for (const node of nodesOf(top, 'CallExpression')) {
    if (node.parent?.name !== 'AssignStatement' || calleeName(source, node) !== 'int') continue;
    const isPlain = seeds.every((seed) => seed.to <= node.from || seed.from >= node.to);
    if (!isPlain || !isSeed(source, node)) continue;
    const text = textOf(source, node);
    seeds.push({ from: node.from, to: node.to, raised: (offset) => `${text} + ${offset}` });
  }
  return seeds;
}

function isSeed(source: string, node: SyntaxNode): boolean {
  const call = node.parent?.name === 'ArgList' ? node.parent.parent : null;
  const seeding =
    /^(?:seed|manual_seed|manual_seed_all|set_seed|default_rng|RandomState|PRNGKey|seed_everything)$/;
  if (call?.name === 'CallExpression' && seeding.test(calleeName(source, call))) return true;
  const named = nameOf(source, node);
  return named !== null && /(?:^|_)(?:seed|random_state|random_seed)$/.test(plainName(named.name));
}

/** The value of a plain decimal literal; null for hexadecimal, complex and invalid ones. */
function numberValue(literal: string): number | null {
  if (!/^(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][-+]?\d+)?$/.test(literal)) return null;
  const value = Number(literal.replaceAll('_', ''));
  return Number.isFinite(value) && !/^0\d/.test(literal) ? value : null;
}
