import { childrenOf, nodesOf, type SyntaxNode, textOf } from '../../python-source.ts';
import { evaluated, labelsOf, materialised, partOf, type Scope, subscriptsOf } from './expressions.ts';
import { sidesOf } from './ranks.ts';
import { subscript } from './subscripts.ts';
import {
  arranged,
  atom,
  countOf,
  elementwise,
  isOwn,
  type Loop,
  minus,
  type Operand,
  ownAxes,
  ownRank,
  plus,
  Refusal,
  reduced,
  scalar,
  single,
  summed,
  times,
  type Value,
} from './values.ts';

/** A name that gets its value inside the loops, or gathers one over their rounds. */
interface Variable {
  value: Value;
  /** The loops that were open when it was first given a value: it is gathered over all that were opened since. */
  definedIn: readonly string[];
  /** Loops whose rounds it is being gathered over, and what one more round would see. */
  gatheredOver: readonly string[];
  running: { before: Operand; share: Value } | null;
  /** Whether it was there before the outermost loop, and its final value has to be left behind. */
  isOuter: boolean;
}

/** A script, as far as all its loops share it. */
export interface Script {
  source: string;
  np: string;
  imports: ReadonlyMap<string, string>;
  ranks: ReadonlyMap<string, number>;
}

/** Statements without loops that do what a loop does; null where this cannot be told from the syntax. */
export function vectorised(loop: SyntaxNode, script: Script): string[] | null {
  // Of arrays that nothing else is known of, a round sees numbers, or else rows.
  const [numbers, rows] = [0, 1].map((more) => guessedRanks(script, loop, more));
  for (const ranks of [numbers, rows]) {
    try {
      const lines = new Vectoriser(loop, { ...script, ranks: ranks ?? script.ranks }).lines();
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
  for (const [name, length] of lengths) if (!ranks.has(name)) ranks.set(name, length + more);
  return ranks;
}

/**
 * Runs through a nest of loops once, with every loop number standing for all its values at a time. Statements of the body
 * are thereby done one after the other, each in all rounds. That is right if no round sees what another one left behind,
 * other than through sums, extremes and running sums: arrays that are written to are only read where they are written.
 */
class Vectoriser implements Scope {
  readonly source: string;
  readonly np: string;
  readonly imports: ReadonlyMap<string, string>;
  readonly ranks: ReadonlyMap<string, number>;
  readonly loops: Loop[] = [];
  private readonly nest: SyntaxNode;
  private readonly variables = new Map<string, Variable>();
  private readonly assigned: ReadonlySet<string>;
  /** Arrays and lists that are written to, with the subscripts as they stand there. */
  private readonly written = new Map<string, Set<string>>();
  private readonly results: string[] = [];
  private count = 0;

  constructor(nest: SyntaxNode, script: Script) {
    this.source = script.source;
    this.np = script.np;
    this.imports = script.imports;
    this.ranks = script.ranks;
    this.nest = nest;
    this.assigned = this.findAssigned();
  }

  lines(): string[] {
    this.loop(this.nest, null);
    for (const [name, variable] of this.variables) {
      if (!variable.isOuter) continue;
      const operand = materialised(variable.value, this);
      if (operand.axes.length > 0) throw new Refusal('a number that is an array at the end');
      this.results.push(`${name} = ${operand.code}`);
    }
    this.checkUsesAfter();
    return this.results;
  }

  private text(node: SyntaxNode): string {
    return textOf(this.source, node);
  }

  /** All names that the loops give values to; what is written into is noted on the way. */
  private findAssigned(): Set<string> {
    const assigned = new Set<string>();
    const write = (target: SyntaxNode) => {
      if (target.name === 'VariableName') assigned.add(this.text(target));
      else {
        const { base } = subscriptsOf(target, this.source);
        const name = this.text(base).split('.')[0] ?? '';
        this.written.set(
          name,
          (this.written.get(name) ?? new Set()).add(this.text(target).slice(this.text(base).length)),
        );
      }
    };
    for (const node of nodesOf(this.nest, 'AssignStatement')) sidesOf(node).targets.forEach(write);
    for (const node of nodesOf(this.nest, 'UpdateStatement'))
      if (node.firstChild !== null) write(node.firstChild);
    for (const node of nodesOf(this.nest, 'ForStatement')) {
      for (const name of targetsOf(node)) assigned.add(this.text(name));
    }
    for (const node of nodesOf(this.nest, 'CallExpression')) {
      const appended = /^(\w+)\s*\.\s*append$/.exec(this.text(node.firstChild ?? node))?.[1];
      if (appended !== undefined) this.written.set(appended, new Set());
    }
    return assigned;
  }

  read = (name: string): Value | null => {
    const variable = this.variables.get(name);
    if (variable === undefined) {
      if (this.assigned.has(name)) throw new Refusal('a value of the round before');
      return null;
    }
    const open = labelsOf(this);
    const gathering = variable.gatheredOver.filter((label) => open.includes(label));
    if (gathering.length > 0) return this.runningSum(variable, gathering);
    const labels = [
      ...(variable.value.affine?.terms.keys() ?? []),
      ...variable.value.factors.flatMap(({ axes }) => axes),
    ];
    if (labels.some((label) => !isOwn(label) && !open.includes(label)))
      throw new Refusal('the last value of a loop');
    return variable.value;
  };

  checkRead = (name: string, subscripts: string | null): void => {
    const places = this.written.get(name);
    if (places === undefined) return;
    const isSame = subscripts !== null && places.size === 1 && places.has(subscripts);
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
    return single(elementwise([before, sums], labelsOf(this), (codes) => codes.join(' + ')));
  }

  private statements(body: SyntaxNode, mask: Operand | null): void {
    for (const statement of childrenOf(body)) this.statement(statement, mask);
  }

  private statement(node: SyntaxNode, mask: Operand | null): void {
    switch (node.name) {
      case ':':
      case 'Comment':
      case 'PassStatement':
        return;
      case 'ForStatement':
        this.loop(node, mask);
        break;
      case 'AssignStatement':
        this.assignment(node, mask);
        break;
      case 'UpdateStatement':
        this.update(node, mask);
        break;
      case 'IfStatement':
        this.condition(node, mask);
        break;
      case 'ExpressionStatement':
        this.append(node, mask);
        break;
      default:
        throw new Refusal(`a ${node.name}`);
    }
  }

  private loop(node: SyntaxNode, mask: Operand | null): void {
    const children = childrenOf(node);
    const bodies = children.filter(({ name }) => name === 'Body');
    const [body] = bodies;
    const iterated = children[children.findIndex(({ name }) => name === 'in') + 1];
    if (body === undefined || bodies.length > 1 || iterated === undefined || children[0]?.name !== 'for')
      throw new Refusal('a loop with an else');
    this.open(targetsOf(node), iterated);
    this.statements(body, mask);
    this.loops.pop();
  }

  private open(targets: SyntaxNode[], iterated: SyntaxNode): void {
    const names = targets.map((target) => this.text(target));
    const [name] = names;
    const callee = iterated.name === 'CallExpression' ? this.text(iterated.firstChild ?? iterated) : '';
    const list = childrenOf(iterated.getChild('ArgList') ?? iterated).filter(
      ({ name: kind }) => !/^[(),]$/.test(kind),
    );
    if (name === undefined) throw new Refusal('a loop without a number');
    this.count += 1;
    const label = `${name}@${this.count}`;
    if (callee === 'range' && names.length === 1 && list.length > 0 && list.length < 4) {
      const bounds = list.map((bound) => this.boundOf(bound));
      const [first, end, step] =
        bounds.length === 1 ? ['0', bounds[0], '1'] : [bounds[0], bounds[1], bounds[2] ?? '1'];
      if (first === undefined || end === undefined || step === undefined || step.startsWith('-'))
        throw new Refusal('a loop that counts down');
      this.loops.push({ label, first, end, step });
      this.set(name, { factors: [], affine: { terms: new Map([[label, '1']]), constant: '0' } });
      return;
    }
    const sources = callee === 'enumerate' || callee === 'zip' ? list : [iterated];
    const items = callee === 'enumerate' ? names.slice(1) : names;
    if (callee === 'enumerate' && (sources.length !== 1 || names.length !== 2))
      throw new Refusal('a list of pairs');
    if (items.length !== sources.length || sources.some((source) => source.name !== 'VariableName'))
      throw new Refusal('a loop over what is no array');
    const arrays = sources.map((source) => this.text(source));
    for (const array of arrays) {
      this.checkRead(array, null);
      if (this.read(array) !== null) throw new Refusal('a loop over what changes');
    }
    this.loops.push({ label, first: '0', end: `len(${arrays[0]})`, step: '1' });
    if (callee === 'enumerate')
      this.set(name, { factors: [], affine: { terms: new Map([[label, '1']]), constant: '0' } });
    for (const [place, array] of arrays.entries()) {
      const rank = this.ranks.get(array) ?? null;
      const axes = [label, ...ownAxes(Math.max(0, (rank ?? 1) - 1))];
      this.set(items[place] ?? '', single({ code: `${this.np}.asarray(${array})`, axes }));
    }
  }

  private boundOf(node: SyntaxNode): string {
    const { affine } = evaluated(node, this);
    if (affine === null || affine.terms.size > 0) throw new Refusal('a loop of changing length');
    return affine.constant;
  }

  private set(name: string, value: Value): void {
    this.variables.set(name, {
      ...{ value, definedIn: labelsOf(this), gatheredOver: [], running: null, isOuter: false },
    });
  }

  private assignment(node: SyntaxNode, mask: Operand | null): void {
    const { targets, values } = sidesOf(node);
    if (targets.length !== values.length || values.length === 0) throw new Refusal('an assignment to many');
    if (mask === null && targets.length === 1 && this.extreme(targets[0], values[0])) return;
    if (mask === null && targets.length === 1 && this.recurrence(targets[0], values[0])) return;
    const read = values.map((value) => (isEmptyList(value) ? null : evaluated(value, this)));
    for (const [place, target] of targets.entries()) {
      const value = read[place];
      if (target.name !== 'VariableName') {
        if (value === null || value === undefined) throw new Refusal('a list in a list');
        this.store(target, '=', value, mask);
      } else if (value === null || value === undefined) {
        throw new Refusal('a list that is made anew');
      } else this.assign(this.text(target), value, mask);
    }
  }

  private assign(name: string, value: Value, mask: Operand | null): void {
    if (mask === null) {
      this.set(name, this.kept(name, value));
      return;
    }
    const before = this.variables.has(name) ? this.read(name) : null;
    if (before === null) throw new Refusal('a value that only some rounds have');
    const operands = [mask, materialised(value, this), materialised(before, this)];
    this.set(
      name,
      this.kept(
        name,
        single(elementwise(operands, labelsOf(this), (codes) => `${this.np}.where(${codes.join(', ')})`)),
      ),
    );
  }

  /** Written to a line of its own where it would be worked out more than once. */
  private kept(name: string, value: Value): Value {
    const operand = value.factors.length === 1 ? value.factors[0] : undefined;
    const isView = operand !== undefined && /^[\w.]+(?:\(.*\))?\[[^()]*\]$|^[\w.]+$/.test(operand.code);
    if (value.affine !== null || operand === undefined || isView || operand.axes.length === 0) return value;
    const fresh = this.freshName(name);
    this.results.push(`${fresh} = ${operand.code}`);
    return single({ ...operand, code: fresh });
  }

  private freshName(name: string): string {
    this.count += 1;
    const fresh = `${name}_of_all_${this.count}`;
    if (this.source.includes(fresh)) throw new Refusal('a name that is taken');
    return fresh;
  }

  private update(node: SyntaxNode, mask: Operand | null): void {
    const [target, sign, ...rest] = childrenOf(node);
    const [expression] = rest;
    if (target === undefined || sign === undefined || expression === undefined || rest.length > 1)
      throw new Refusal('a broken update');
    const operator = this.text(sign);
    const value = evaluated(expression, this);
    if (target.name === 'VariableName') this.gather(this.text(target), operator, value, mask);
    else this.store(target, operator, value, mask);
  }

  /** `total += value`. */
  private gather(name: string, operator: string, value: Value, mask: Operand | null): void {
    if (operator !== '+=' && operator !== '-=') throw new Refusal('a product over rounds');
    const variable = this.variables.get(name) ?? this.outer(name);
    const over = labelsOf(this).filter((label) => !variable.definedIn.includes(label));
    const masked = this.masked(value, mask);
    const share = this.summedOver(masked, over);
    const before = materialised(variable.value, this);
    const sign = operator === '+=' ? '+' : '-';
    const isFirst = isNought(before.code) && sign === '+';
    const total = isFirst
      ? share
      : elementwise([before, share], labelsOf(this), ([one, two]) => `${one} ${sign} ${atom(two ?? '')}`);
    const startsHere = variable.gatheredOver.length === 0 && over.length === 1 && sign === '+';
    const running = startsHere ? { before, share: masked } : null;
    this.variables.set(name, { ...variable, value: single(total), gatheredOver: over, running });
  }

  /** A sum that was begun before the loops. */
  private outer(name: string): Variable {
    const variable = { value: scalar(name), definedIn: [], gatheredOver: [], running: null, isOuter: true };
    this.variables.set(name, variable);
    return variable;
  }

  private masked(value: Value, mask: Operand | null): Value {
    if (mask === null) return value;
    const operands = [mask, materialised(value, this)];
    return single(
      elementwise(operands, labelsOf(this), ([one, two]) => `${this.np}.where(${one}, ${two}, 0)`),
    );
  }

  private summedOver(value: Value, over: readonly string[]): Operand {
    const operands =
      value.affine !== null && value.affine.terms.size > 0 ? [materialised(value, this)] : value.factors;
    const missing = over.filter((label) => !operands.some(({ axes }) => axes.includes(label)));
    const present = over.filter((label) => !missing.includes(label));
    const sum = summed({ factors: operands, affine: null }, present, labelsOf(this), this.np);
    const counts = this.loops.filter(({ label }) => missing.includes(label)).map(countOf);
    return counts.length === 0
      ? sum
      : { ...sum, code: counts.reduce((left, right) => times(left, atom(right)), sum.code) };
  }

  /** `out[i, j] = value` and `out[i, j] += value`. */
  private store(target: SyntaxNode, operator: string, value: Value, mask: Operand | null): void {
    const { base, parts } = subscriptsOf(target, this.source);
    const name = this.text(base);
    if (!/^\w+(?:\.\w+)*$/.test(name) || parts.length === 0 || this.assigned.has(name))
      throw new Refusal('a target that is no array');
    if (!/^(?:[-+*]?=|\/=)$/.test(operator)) throw new Refusal(`the operator ${operator}`);
    const read = parts.map((part) => partOf(part, this));
    if (read.some((part) => part.kind === 'gather')) {
      this.scatter(name, operator, read, value, mask);
      return;
    }
    const place = subscript(name, read, this.ranks.get(name) ?? null, this.loops, this.np);
    if (
      place.code.includes('sliding_window_view') ||
      new Set(place.axes).size < place.axes.length ||
      /\[[^\]]*np\.arange/.test(place.code)
    )
      throw new Refusal('places that overlap');
    const over = labelsOf(this).filter((label) => !place.axes.includes(label));
    const isSum = operator === '+=' || operator === '-=';
    if (over.length > 0 && !isSum) throw new Refusal('a place that many rounds write to');
    const share = isSum ? this.summedOver(this.masked(value, mask), over) : materialised(value, this);
    if (ownRank(share.axes) > ownRank(place.axes) && this.ranks.has(name))
      throw new Refusal('an array for the place of a number');
    const code = this.placed(share, place);
    const isMasked = mask !== null && !isSum;
    if (isMasked && operator !== '=') throw new Refusal('a product in some rounds');
    const right = isMasked ? `${this.np}.where(${this.placed(mask, place)}, ${code}, ${place.code})` : code;
    // A whole array is named by a slice of it, since the name alone would be given another array.
    const left = place.code.includes('[') ? place.code : `${place.code}[:]`;
    this.results.push(`${left} ${operator} ${right}`);
  }

  private placed(operand: Operand, place: Operand): string {
    const rank = Math.max(ownRank(operand.axes), ownRank(place.axes));
    return arranged(operand, [...place.axes.filter((axis) => !isOwn(axis)), ...ownAxes(rank)]);
  }

  /** `counts[which[i]] += 1`: several rounds may add to the same place. */
  private scatter(
    name: string,
    operator: string,
    parts: Parameters<typeof subscript>[1],
    value: Value,
    mask: Operand | null,
  ): void {
    if (operator !== '+=' && operator !== '-=') throw new Refusal('places that may be the same');
    const place = subscript(name, parts, null, this.loops, this.np);
    const [, subscripts] = /^[\w.]+\[(.*)\]$/s.exec(place.code) ?? [];
    const share = materialised(this.masked(value, mask), this);
    if (subscripts === undefined || labelsOf(this).some((label) => !place.axes.includes(label)))
      throw new Refusal('places of unknown shape');
    const callee = operator === '+=' ? 'add' : 'subtract';
    this.results.push(`${this.np}.${callee}.at(${name}, (${subscripts},), ${arranged(share, place.axes)})`);
  }

  private condition(node: SyntaxNode, mask: Operand | null): void {
    if (this.best(node, mask)) return;
    let remaining = mask;
    const children = childrenOf(node);
    for (const [place, child] of children.entries()) {
      if (child.name !== 'Body') continue;
      const before = children[place - 1];
      const test =
        before !== undefined && before.name !== 'else' ? materialised(evaluated(before, this), this) : null;
      this.statements(child, test === null ? remaining : this.both(remaining, test));
      if (test === null) continue;
      const opposite = elementwise([test], labelsOf(this), ([code]) => `${this.np}.logical_not(${code})`);
      remaining = this.both(remaining, opposite);
    }
  }

  private both(left: Operand | null, right: Operand): Operand {
    if (left === null) return right;
    return elementwise(
      [left, right],
      labelsOf(this),
      (codes) => `${this.np}.logical_and(${codes.join(', ')})`,
    );
  }

  /** `if value < best: best = value` and, with it, `place = j`: the least value, and the first round that has it. */
  private best(node: SyntaxNode, mask: Operand | null): boolean {
    const [, test, body, ...others] = childrenOf(node);
    if (mask !== null || others.length > 0 || test?.name !== 'BinaryExpression' || body === undefined)
      return false;
    const [left, sign, right] = childrenOf(test);
    if (left === undefined || sign === undefined || right === undefined || !/^[<>]$/.test(this.text(sign)))
      return false;
    const [best, value] =
      this.variables.has(this.text(right)) && this.isAssignedIn(body, right) ? [right, left] : [left, right];
    const variable = this.variables.get(this.text(best));
    if (variable === undefined || !this.isAssignedIn(body, best)) return false;
    const isLeast = (this.text(sign) === '<') === (best === right);
    const over = labelsOf(this).filter((label) => !variable.definedIn.includes(label));
    const [label, ...more] = over;
    const loop = this.loops.find((each) => each.label === label);
    if (loop === undefined || more.length > 0 || variable.gatheredOver.length > 0)
      throw new Refusal('the best of many loops');
    const operand = materialised(evaluated(value, this), this);
    const start = materialised(variable.value, this).code;
    const isInfinite = /\binf\b/.test(start) || /\binf/.test(start);
    for (const statement of childrenOf(body).filter(({ name }) => name !== ':' && name !== 'Comment')) {
      const { targets, values } =
        statement.name === 'AssignStatement' ? sidesOf(statement) : { targets: [], values: [] };
      if (targets.length !== values.length || targets.length === 0) throw new Refusal('more than the best');
      for (const [place, target] of targets.entries()) {
        const given = values[place];
        const name = this.text(target);
        const held = this.variables.get(name);
        if (given === undefined || held === undefined || held.definedIn.length !== variable.definedIn.length)
          throw new Refusal('more than the best');
        const isValue = this.text(given) === this.text(value);
        const isNumber = this.text(given) === nameOfLoop(loop);
        if (!isValue && !(isNumber && isInfinite)) throw new Refusal('more than the best');
        const callee = `${this.np}.${isValue ? '' : 'arg'}${isLeast ? 'min' : 'max'}`;
        const found = reduced(operand, [loop.label], callee);
        const number = loop.step === '1' ? plus(found.code, loop.first) : '';
        if (!isValue && number === '') throw new Refusal('the best of a loop with a step');
        const starting = { code: start, axes: materialised(variable.value, this).axes };
        const whole = isInfinite
          ? found
          : elementwise(
              [starting, found],
              labelsOf(this),
              (codes) => `${this.np}.${isLeast ? 'min' : 'max'}imum(${codes.join(', ')})`,
            );
        const result = isValue ? whole : { ...found, code: number };
        this.variables.set(name, { ...held, value: single(result), gatheredOver: over, running: null });
      }
    }
    return true;
  }

  /** `out[i] = out[i - 1] + value`: a running sum that goes on from the entry before the first round. */
  private recurrence(target: SyntaxNode | undefined, value: SyntaxNode | undefined): boolean {
    const [loop, ...more] = this.loops;
    const [before, sign, share] = value?.name === 'BinaryExpression' ? childrenOf(value) : [];
    if (
      target?.name !== 'MemberExpression' ||
      before === undefined ||
      sign === undefined ||
      share === undefined
    )
      return false;
    const [place, last] = [target, before].map((node) => subscriptsOf(node, this.source));
    const isAlike =
      place !== undefined && last !== undefined && this.text(place.base) === this.text(last.base);
    if (loop === undefined || more.length > 0 || !isAlike || this.text(sign) !== '+' || loop.step !== '1')
      return false;
    if (place.parts.length !== 1 || last.parts.length !== 1 || before.name !== 'MemberExpression')
      return false;
    const [here, there] = [place, last].map(({ parts }) => partOf(parts[0] ?? [], this));
    if (here?.kind !== 'number' || there?.kind !== 'number' || here.affine.terms.get(loop.label) !== '1')
      return false;
    if (
      there.affine.terms.get(loop.label) !== '1' ||
      minus(here.affine.constant, there.affine.constant) !== '1'
    )
      return false;
    const operand = materialised(evaluated(share, this), this);
    if (!operand.axes.includes(loop.label)) throw new Refusal('the same in every round');
    const name = this.text(place.base);
    const { code } = subscript(name, [here], 1, this.loops, this.np);
    const first = plus(loop.first, there.affine.constant);
    this.results.push(
      `${code} = ${name}[${first}] + ${this.np}.cumsum(${operand.code}, axis=${operand.axes.indexOf(loop.label)})`,
    );
    return true;
  }

  /** `best = max(best, value)`. */
  private extreme(target: SyntaxNode | undefined, value: SyntaxNode | undefined): boolean {
    if (target?.name !== 'VariableName' || value?.name !== 'CallExpression') return false;
    const callee = /^(?:max|min)$/.exec(this.text(value.firstChild ?? value))?.[0];
    const list = childrenOf(value.getChild('ArgList') ?? value).filter(({ name }) => !/^[(),]$/.test(name));
    const name = this.text(target);
    const [other, ...more] = list.filter((each) => this.text(each) !== name);
    if (callee === undefined || list.length !== 2 || other === undefined || more.length > 0) return false;
    const variable = this.variables.get(name) ?? this.outer(name);
    const over = labelsOf(this).filter((label) => !variable.definedIn.includes(label));
    if (over.length === 0 || variable.gatheredOver.length > 0) throw new Refusal('an extreme of nothing');
    const found = reduced(materialised(evaluated(other, this), this), over, `${this.np}.${callee}`);
    const operands = [materialised(variable.value, this), found];
    const best = elementwise(
      operands,
      labelsOf(this),
      (codes) => `${this.np}.${callee}imum(${codes.join(', ')})`,
    );
    this.variables.set(name, { ...variable, value: single(best), gatheredOver: over, running: null });
    return true;
  }

  private isAssignedIn(body: SyntaxNode, name: SyntaxNode): boolean {
    return (
      name.name === 'VariableName' &&
      nodesOf(body, 'AssignStatement').some((node) =>
        sidesOf(node).targets.some((target) => this.text(target) === this.text(name)),
      )
    );
  }

  /** `results.append(value)` in all rounds. */
  private append(node: SyntaxNode, mask: Operand | null): void {
    const call = node.firstChild;
    if (call?.name === 'String') return;
    const name = /^(\w+)\s*\.\s*append$/.exec(this.text(call?.firstChild ?? node))?.[1];
    const [argument, ...more] = childrenOf(call?.getChild('ArgList') ?? node).filter(
      ({ name: kind }) => !/^[(),]$/.test(kind),
    );
    if (name === undefined || argument === undefined || more.length > 0 || this.assigned.has(name))
      throw new Refusal('a call for its effect');
    const operand = materialised(evaluated(argument, this), this);
    const axes = [...labelsOf(this), ...ownAxes(ownRank(operand.axes))];
    if (labelsOf(this).some((label) => !operand.axes.includes(label)))
      throw new Refusal('the same in every round');
    const code = arranged(operand, axes);
    const shown = mask === null ? code : `${atom(code)}[${arranged(mask, labelsOf(this))}]`;
    if (mask !== null && labelsOf(this).some((label) => !mask.axes.includes(label)))
      throw new Refusal('a choice of whole rows');
    const isFlat = mask !== null || this.loops.length === 1;
    if (!isFlat && ownRank(axes) > 0) throw new Refusal('arrays from many loops');
    const list = ownRank(axes) > 0 ? shown : `${atom(shown)}${isFlat ? '' : '.ravel()'}.tolist()`;
    this.results.push(`${name}.extend(${list})`);
  }

  /** What the loops leave in other names must not be needed later. */
  private checkUsesAfter(): void {
    let around = this.nest.parent;
    while (around !== null && around.name !== 'FunctionDefinition' && around.name !== 'Script')
      around = around.parent;
    if (around === null) return;
    const outer = new Set([...this.variables].filter(([, { isOuter }]) => isOuter).map(([name]) => name));
    const isInLoop = (() => {
      for (let parent = this.nest.parent; parent !== null && parent !== around; parent = parent.parent) {
        if (/^(?:For|While)Statement$/.test(parent.name)) return true;
      }
      return false;
    })();
    const seen = new Set<string>();
    const nodes = nodesOf(around, 'VariableName').filter(
      ({ from }) => from >= this.nest.to || (isInLoop && from < this.nest.from),
    );
    for (const node of nodes.sort(
      (left, right) =>
        Number(left.from < this.nest.from) - Number(right.from < this.nest.from) || left.from - right.from,
    )) {
      const name = this.text(node);
      if (seen.has(name) || outer.has(name) || !this.assigned.has(name)) continue;
      if (node.parent?.name === 'ArgList' && node.nextSibling?.name === 'AssignOp') continue;
      seen.add(name);
      if (!isGivenValue(node)) throw new Refusal('a name that is used later');
    }
  }
}

/** Whether a name is given a value without being used first. */
function isGivenValue(node: SyntaxNode): boolean {
  const { parent } = node;
  if (parent?.name === 'ForStatement' || /Comprehension/.test(parent?.name ?? '')) return true;
  if (parent?.name === 'TupleExpression' && parent.parent?.name === 'ForStatement') return true;
  if (parent?.name !== 'AssignStatement') return false;
  const { targets, values } = sidesOf(parent);
  return targets.some(({ from }) => from === node.from) && values.every((value) => value.from > node.from);
}

function targetsOf(loop: SyntaxNode): SyntaxNode[] {
  const children = childrenOf(loop);
  const targets = children
    .slice(
      1,
      children.findIndex(({ name }) => name === 'in'),
    )
    .filter(({ name }) => name !== ',');
  return targets.flatMap((target) => {
    if (target.name === 'VariableName') return [target];
    return childrenOf(target).filter(({ name }) => !/^[(),]$/.test(name));
  });
}

function isNought(code: string): boolean {
  return /^0(?:\.0*)?$/.test(code);
}

function isEmptyList(node: SyntaxNode): boolean {
  return node.name === 'ArrayExpression' && childrenOf(node).length === 2;
}

function nameOfLoop(loop: Loop): string {
  return loop.label.replace(/@.*$/, '');
}
