import { ancestorsOf, type SyntaxNode, textOf } from './python-source.ts';

/** Constants of mathematics, nature or convention, in usual units, without their powers of ten. */
const settled = [
  Math.PI,
  6.28318531,
  1.57079633,
  Math.E,
  1.61803399,
  Math.SQRT2,
  1.73205081,
  0.57721566,
  Math.LN2,
  Math.LN10,
  9.80665,
  9.81,
  6.6743,
  2.99792458,
  8.31446262,
  1.380649,
  6.62607015,
  1.05457182,
  1.60217663,
  6.02214076,
  8.8541878,
  1.25663706,
  5.67037442,
  2.7315,
  2.9815,
  1.01325,
  9.6485332,
];

/** Whether a number is a well-known constant written with at least three digits: pi, gravity, the speed of light. */
export function isConstantOfNature(value: number): boolean {
  if (value === 0 || !Number.isFinite(value)) return false;
  const mantissa = Math.abs(value) / 10 ** Math.floor(Math.log10(Math.abs(value)));
  const hasDigits = Math.abs(mantissa * 10 - Math.round(mantissa * 10)) > 1e-9;
  return hasDigits && settled.some((known) => Math.abs(mantissa - normal(known)) < 0.004);
}

function normal(value: number): number {
  return value < 1 ? value * 10 : value;
}

/**
 * Whether a number is a constant of the script that is only used in calculations: all its uses are operands of
 * formulas, and none of these belongs to a training loop.
 */
export function isOnlyInFormulas(
  source: string,
  number: SyntaxNode,
  occurrences: readonly SyntaxNode[],
): boolean {
  const statement = number.parent;
  if (statement?.name !== 'AssignStatement' || statement.parent?.name !== 'Script') return false;
  const uses = occurrences.filter((node) => node.from < statement.from || node.from >= statement.to);
  return uses.length > 0 && uses.every((use) => isOperand(use) && !isInTraining(source, use));
}

function isOperand(node: SyntaxNode): boolean {
  return /^(?:BinaryExpression|UnaryExpression)$/.test(node.parent?.name ?? '');
}

function isInTraining(source: string, node: SyntaxNode): boolean {
  const around = ancestorsOf(node).filter(({ name }) =>
    /^(?:FunctionDefinition|ForStatement|WhileStatement)$/.test(name),
  );
  return around.some((each) => /\.\s*(?:backward|fit|step)\s*\(/.test(textOf(source, each)));
}
