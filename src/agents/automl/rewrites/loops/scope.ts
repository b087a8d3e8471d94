import type { SyntaxNode } from '../../python-source.ts';
import type { Kinds } from './kinds.ts';
import type { Loop, Operand, Value } from './values.ts';

/** What is known where an expression stands. */
export interface Scope {
  source: string;
  /** The script's name of numpy. */
  np: string;
  imports: ReadonlyMap<string, string>;
  ranks: ReadonlyMap<string, number>;
  kinds: Kinds;
  arrays: ReadonlySet<string>;
  /** Loops that are open, from the outermost. */
  loops: readonly Loop[];
  /** Of which subscripts a condition may be all that keeps them inside their arrays: none, those that are looked up, or all. */
  guarded: 'none' | 'lookups' | 'all';
  /** The value of a name that changes inside the loops; null for names that do not. Throws for a name that cannot be known. */
  read: (name: string) => Value | null;
  /** Throws where an array that is written to is read in any place but the one that is written. */
  checkRead: (name: string, subscripts: string | null) => void;
  /** A list that each round makes in one line. */
  listed: (node: SyntaxNode) => Operand;
}

export function labelsOf(scope: Pick<Scope, 'loops'>): string[] {
  return scope.loops.map(({ label }) => label);
}
