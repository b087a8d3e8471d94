import { ancestorsOf, nodesOf, type SyntaxNode, textOf } from '../../python-source.ts';
import { sharedArrays } from './aliases.ts';
import { atom, times } from './arithmetic.ts';
import { materialised } from './expressions.ts';
import type { Kind, Kinds } from './kinds.ts';
import { isTriangle, mayOverwrite, type Nest, readNest } from './nest.ts';
import { labelsOf, type Scope } from './scope.ts';
import { targetsOf } from './syntax.ts';
import {
  countOf,
  elementwise,
  isOwn,
  type Loop,
  nameOfLoop,
  type Operand,
  Refusal,
  scalar,
  single,
  summed,
  type Value,
} from './values.ts';

/** A name that gets its value inside the loops, or gathers one over their rounds. */
export interface Variable {
  value: Value;
  /** The loops that were open when it was first given a value: it is gathered over all that were opened since. */
  definedIn: readonly string[];
  /** Loops whose rounds it is being gathered over, and what one more round would see. */
  gatheredOver: readonly string[];
  running: { before: Operand; share: Value } | null;
  /** The least or the greatest of rounds, and what was found with it, can not be added to. */
  isExtreme?: boolean;
  /** Whether it was there before the outermost loop, and its final value has to be left behind. */
  isOuter: boolean;
}

/** A script, as far as all its loops share it. */
export interface Script {
  source: string;
  np: string;
  imports: ReadonlyMap<string, string>;
  ranks: ReadonlyMap<string, number>;
  kinds: Kinds;
  /** Names that stand for arrays of numpy, as the script shows; others may be lists. */
  arrays: ReadonlySet<string>;
}

/**
 * Runs through a nest of loops once, with every loop number standing for all its values at a time. Statements of the body
 * are thereby done one after the other, each in all rounds. That is right if no round sees what another one left behind,
 * other than through sums, extremes and running sums: arrays that are written to are only read where they are written.
 */
export class Rounds implements Scope {
  readonly source: string;
  readonly np: string;
  readonly imports: ReadonlyMap<string, string>;
  readonly ranks: ReadonlyMap<string, number>;
  readonly kinds: Kinds;
  readonly arrays: ReadonlySet<string>;
  readonly nest: Nest;
  /** Those that are open, from the outermost. */
  readonly loops: Loop[] = [];
  /** Names of the loops that have a value by now. */
  readonly variables = new Map<string, Variable>();
  /** Lists that each round begins anew, with the loops that were open then. */
  readonly begun = new Map<string, readonly string[]>();
  /** The statements that stand in the place of the loops. */
  readonly lines: string[] = [];
  guarded: Scope['guarded'] = 'none';
  /** The numbers of loops around the outermost one. */
  readonly around: ReadonlySet<string>;
  /** Names that had a value in some rounds alone. */
  readonly forgotten = new Set<string>();
  listed: Scope['listed'] = () => {
    throw new Refusal('a list of one line');
  };
  private count = 0;

  constructor(loop: SyntaxNode, script: Script) {
    this.source = script.source;
    this.np = script.np;
    this.imports = script.imports;
    this.ranks = script.ranks;
    this.kinds = script.kinds;
    this.arrays = script.arrays;
    this.nest = readNest(loop, script.source);
    const outside = ancestorsOf(loop).filter(({ name }) => name === 'ForStatement');
    this.around = new Set(outside.flatMap(targetsOf).map((target) => this.text(target)));
    if (mayOverwrite(this.nest, this.source)) throw new Refusal('places that are written in turn');
    this.checkSharing();
  }

  /** Refuses where an array that is written to has another name in the loops. */
  private checkSharing(): void {
    const mayShare = sharedArrays(this.nest.loop, this.source, this.np);
    const names = new Set(nodesOf(this.nest.loop, 'VariableName').map((node) => this.text(node)));
    for (const written of this.nest.written.keys()) {
      for (const name of names) {
        if (name !== written && !this.nest.assigned.has(name) && mayShare(written, name))
          throw new Refusal('two names for one array');
      }
    }
  }

  /** Whether a name is of a kind anywhere in the script. */
  isOf(kind: Kind, name: string): boolean {
    return this.kinds.get(name)?.has(kind) ?? false;
  }

  text(node: SyntaxNode): string {
    return textOf(this.source, node);
  }

  /** The value of a name as the round sees it; null for names that the loops give no value to. */
  read = (name: string): Value | null => {
    const variable = this.variables.get(name);
    if (variable === undefined) {
      if (this.nest.assigned.has(name)) throw new Refusal('a value of the round before');
      return null;
    }
    const open = labelsOf(this);
    const gathering = variable.gatheredOver.filter((label) => open.includes(label));
    if (gathering.length > 0) return this.runningSum(variable, gathering);
    if (this.openedSince(variable).some((label) => this.loopOf(label)?.changes.has(name)))
      throw new Refusal('a value of the round before');
    const labels = [
      ...(variable.value.affine?.terms.keys() ?? []),
      ...variable.value.factors.flatMap(({ axes }) => axes),
    ];
    if (labels.some((label) => !isOwn(label) && !open.includes(label)))
      throw new Refusal('the last value of a loop');
    return variable.value;
  };

  /** Refuses to read an array that is written to anywhere but in the round's own place. */
  checkRead = (name: string, subscripts: string | null): void => {
    const places = this.nest.written.get(name);
    if (places === undefined) return;
    const isSame =
      subscripts !== null &&
      places.every(
        (place) => place.subscripts === subscripts || isTriangle(this.nest.loop, place.parts, this.source),
      ) &&
      places.some((place) => place.subscripts === subscripts);
    const isOfEveryRound = this.loops.every((loop) =>
      new RegExp(`\\b${nameOfLoop(loop)}\\b`).test(subscripts ?? ''),
    );
    if (!isSame || !isOfEveryRound) throw new Refusal('an array that other rounds write to');
  };

  /** A sum that is read while it is being added to, after the round's share was added. */
  private runningSum(variable: Variable, gathering: readonly string[]): Value {
    const [label] = gathering;
    if (
      variable.running === null ||
      label === undefined ||
      gathering.length > 1 ||
      this.loops.at(-1)?.label !== label
    ) {
      throw new Refusal('a value of the round before');
    }
    const { before, share } = variable.running;
    const operand = materialised(share, this);
    const axis = operand.axes.indexOf(label);
    if (axis < 0) throw new Refusal('a count');
    const sums = { ...operand, code: `${this.np}.cumsum(${operand.code}, axis=${axis})` };
    if (isNought(before.code)) return single(sums);
    return single(this.each([before, sums], (codes) => codes.join(' + ')));
  }

  /** Gives a name its value in the rounds of the loops that are open. */
  set(name: string, value: Value): void {
    const open = labelsOf(this);
    if (this.variables.get(name)?.gatheredOver.some((label) => open.includes(label)) === true)
      throw new Refusal('a sum that begins anew');
    this.forgotten.delete(name);
    this.variables.set(name, {
      value,
      definedIn: open,
      gatheredOver: [],
      running: null,
      isOuter: false,
    });
  }

  private loopOf(label: string): Loop | undefined {
    return this.loops.find((loop) => loop.label === label);
  }

  /** What is read of an array that is written to, as it is now: later lines may change it. */
  settled(name: string, value: Value): Value {
    if (value.affine !== null || !value.factors.some(({ code }) => this.isWritten(code))) return value;
    const operand = materialised(value, this);
    const fresh = this.freshName(name);
    this.lines.push(`${fresh} = ${this.np}.array(${operand.code})`);
    return single({ ...operand, code: fresh });
  }

  private isWritten(code: string): boolean {
    return [...this.nest.written.keys()].some((name) => new RegExp(`\\b${name}\\b`).test(code));
  }

  /** Written to a line of its own where it would be worked out more than once. */
  kept(name: string, given: Value): Value {
    const value = this.settled(name, given);
    const operand = value.factors.length === 1 ? value.factors[0] : undefined;
    const isView = operand !== undefined && /^[\w.]+(?:\(.*\))?\[[^()]*\]$|^[\w.]+$/.test(operand.code);
    if (value.affine !== null || operand === undefined || isView || operand.axes.length === 0) return value;
    const fresh = this.freshName(name);
    this.lines.push(`${fresh} = ${operand.code}`);
    return single({ ...operand, code: fresh });
  }

  /** For whatever has to be told apart: counts from 1. */
  nextNumber(): number {
    this.count += 1;
    return this.count;
  }

  freshName(name: string): string {
    const fresh = `${name}_of_all_${this.nextNumber()}`;
    if (this.source.includes(fresh)) throw new Refusal('a name that is taken');
    return fresh;
  }

  /** An expression of operands, element by element. */
  each(operands: readonly Operand[], write: (codes: string[]) => string): Operand {
    return elementwise(operands, labelsOf(this), write);
  }

  /** Works with names that only this work gives a value to: they are known no longer afterwards, and returned. */
  locals(work: () => void): ReadonlyMap<string, Variable> {
    const known = new Set(this.variables.keys());
    work();
    const fresh = [...this.variables].filter(([name, { isOuter }]) => !known.has(name) && !isOuter);
    for (const [name] of fresh) this.forget(name);
    return new Map(fresh);
  }

  forget(name: string): void {
    this.variables.delete(name);
    this.forgotten.add(name);
  }

  /** Loops that were opened since a name was first given its value. */
  openedSince({ definedIn }: Variable): string[] {
    return labelsOf(this).filter((label) => !definedIn.includes(label));
  }

  /** Nought in the rounds in which a condition does not hold. */
  masked(value: Value, mask: Operand | null): Value {
    if (mask === null) return value;
    const operands = [mask, materialised(value, this)];
    return single(this.each(operands, ([one, two]) => `${this.np}.where(${one}, ${two}, 0)`));
  }

  /** The sum over the rounds of some loops, in which the value may be the same. */
  summedOver(value: Value, over: readonly string[]): Operand {
    const operands =
      value.affine !== null && value.affine.terms.size > 0 ? [materialised(value, this)] : value.factors;
    const missing = over.filter((label) => !operands.some(({ axes }) => axes.includes(label)));
    const present = over.filter((label) => !missing.includes(label));
    const sum = summed({ factors: operands, affine: null }, present, labelsOf(this), this.np);
    const counts = this.loops.filter(({ label }) => missing.includes(label)).map(roundsOf);
    return counts.length === 0
      ? sum
      : { ...sum, code: counts.reduce((left, right) => times(left, atom(right)), sum.code) };
  }

  /** A name that gathers what rounds add to it; one without a value yet was begun before the loops. */
  gathering(name: string): Variable {
    const known = this.variables.get(name);
    if (known !== undefined) return known;
    if (this.forgotten.has(name)) throw new Refusal('a value that only some rounds have');
    const variable = { value: scalar(name), definedIn: [], gatheredOver: [], running: null, isOuter: true };
    this.variables.set(name, variable);
    return variable;
  }
}

/** How many rounds a loop has; none where its end lies before its start. */
function roundsOf(loop: Loop): string {
  const count = countOf(loop);
  return loop.first === '0' || /^\d+$/.test(count) || loop.step !== '1'
    ? count
    : `len(range(${loop.first}, ${loop.end}))`;
}

export function isNought(code: string): boolean {
  return /^0(?:\.0*)?$/.test(code);
}
