import { ancestorsOf, childrenOf, type Edit, nodesOf, type SyntaxNode, textOf } from '../../python-source.ts';
import { hasOwnLines, statementOf, withoutLines } from '../python-edit.ts';
import type { Rewrite } from '../rewrite.ts';
import { combined, type Form, factorsOf, formOf, type Scores } from './attention-forms.ts';
import { inLines, type TorchScript, written } from './script.ts';

/** A name whose meaning is understood, and the statements that gave it this meaning. */
interface Known {
  form: Form;
  statements: readonly SyntaxNode[];
}

/** A product of weights and values, and the statements that only lead to it. */
interface Attention {
  product: SyntaxNode;
  removed: readonly SyntaxNode[];
  text: string;
}

/** Replaces written-out attention by one call of PyTorch's own. */
export function fuseAttention(script: TorchScript): Rewrite[] {
  const { source, top } = script;
  const bodies = nodesOf(top, 'Body').filter((body) => functionOf(body) !== null);
  const found = bodies.flatMap((body) => attentionsIn(script, body));
  const edits = found.flatMap(({ product, removed, text }): Edit[] => [
    ...removed.map((statement) => withoutLines(source, statement)),
    { from: product.from, to: product.to, text },
  ]);
  if (edits.length === 0) return [];
  return written(script, {
    name: 'torch: fused attention',
    change: `Attention ${inLines(
      source,
      found.map(({ product }) => product),
    )} as one call of PyTorch's own.`,
    reason:
      'what queries and keys give need not be written to memory as a whole (Dao et al. 2022), nor what a mask hides worked out.',
    weight: 0.85,
    effort: 1,
    parts: ['attention'],
    edits,
  });
}

function functionOf(node: SyntaxNode): SyntaxNode | null {
  return ancestorsOf(node).find(({ name }) => name === 'FunctionDefinition') ?? null;
}

/** Goes through the statements of a body in order, and tracks the meaning of names. */
function attentionsIn(script: TorchScript, body: SyntaxNode): Attention[] {
  const known = new Map<string, Known>();
  const found: Attention[] = [];
  for (const statement of childrenOf(body)) {
    const attention = attentionIn(script, statement, known);
    if (attention !== null) found.push(attention);
    const given = meaningOf(script, statement, known);
    for (const name of namesGiven(script.source, statement)) known.delete(name);
    if (given !== null) known.set(...given);
  }
  // No statement may be removed twice.
  const taken = found.flatMap(({ removed }) => removed.map(({ from }) => from));
  return new Set(taken).size === taken.length ? found : [];
}

/** The meaning that a statement gives to a name, if it is understood. */
function meaningOf(
  script: TorchScript,
  statement: SyntaxNode,
  known: ReadonlyMap<string, Known>,
): [string, Known] | null {
  if (statement.name === 'IfStatement') return maskedWhereGiven(script, statement, known);
  if (!/^(?:Assign|Update)Statement$/.test(statement.name)) return null;
  const children = childrenOf(statement).filter(({ name }) => name !== 'TypeDef');
  const [target, sign, value, ...others] = children;
  if (target?.name !== 'VariableName' || sign === undefined || value === undefined || others.length > 0)
    return null;
  const name = textOf(script.source, target);
  const forms = new Map([...known].map(([each, { form }]) => [each, form]));
  const form =
    statement.name === 'AssignStatement'
      ? formOf(script, value, forms)
      : combined(script, forms.get(name) ?? null, textOf(script.source, sign).slice(0, -1), value, forms);
  if (form === null) return null;
  const read = statement.name === 'UpdateStatement' ? [name] : [];
  return [name, { form, statements: [...madeBy(script, value, known, read), statement] }];
}

/** The statements that gave the names in an expression their meaning. */
function madeBy(
  { source }: TorchScript,
  node: SyntaxNode,
  known: ReadonlyMap<string, Known>,
  also: readonly string[] = [],
): SyntaxNode[] {
  const names = [...variablesIn(node).map((each) => textOf(source, each)), ...also];
  const all = [...new Set(names)].flatMap((name) => known.get(name)?.statements ?? []);
  return all.filter((each, place) => all.findIndex(({ from }) => from === each.from) === place);
}

function variablesIn(node: SyntaxNode): SyntaxNode[] {
  return node.name === 'VariableName' ? [node] : nodesOf(node, 'VariableName');
}

/** `if mask is not None: scores = scores + mask`. */
function maskedWhereGiven(
  script: TorchScript,
  statement: SyntaxNode,
  known: ReadonlyMap<string, Known>,
): [string, Known] | null {
  const { source } = script;
  const [, condition, body, ...others] = childrenOf(statement);
  if (condition === undefined || body?.name !== 'Body' || others.length > 0) return null;
  const [, mask] = /^(\w+)\s+is\s+not\s+None$/.exec(textOf(source, condition)) ?? [];
  const [, inner, ...more] = childrenOf(body);
  if (mask === undefined || inner === undefined || more.length > 0) return null;
  const [name, after] = meaningOf(script, inner, known) ?? [];
  if (name === undefined || after?.form.kind !== 'scores') return null;
  const before = known.get(name)?.form;
  const given = after.form.mask;
  if (before?.kind !== 'scores' || before.mask !== null || given === null || given.kind === 'causal')
    return null;
  const only = (text: string) => `(${text}) if ${mask} is not None else None`;
  // The condition must be about the mask that is used, and nothing else may have happened to the scores.
  const text = given.kind === 'added' ? given.added : given.hidden;
  const isSame =
    new RegExp(`\\b${mask}\\b`).test(text) &&
    after.form.scale.length === before.scale.length &&
    after.form.query === before.query &&
    after.form.key === before.key &&
    after.form.areWeights === before.areWeights;
  if (!isSame) return null;
  const conditional =
    given.kind === 'added'
      ? { ...given, added: only(given.added) }
      : { ...given, hidden: only(given.hidden) };
  const statements = after.statements.map((each) => (each.from === inner.from ? statement : each));
  return [name, { form: { ...after.form, mask: conditional }, statements }];
}

const blocks = /^(?:For|While|With|If|Match|Try|Decorated)Statement$|Definition$/;

/** The product of weights and values in a statement, if the steps to it are used for nothing else. */
function attentionIn(
  script: TorchScript,
  statement: SyntaxNode,
  known: ReadonlyMap<string, Known>,
): Attention | null {
  if (blocks.test(statement.name)) return null;
  const forms = new Map([...known].map(([name, { form }]) => [name, form]));
  const products = [...nodesOf(statement, 'BinaryExpression'), ...nodesOf(statement, 'CallExpression')];
  for (const product of products) {
    const [weights, value] = factorsOf(script, product) ?? [];
    const form = weights === undefined ? null : formOf(script, weights, forms);
    if (weights === undefined || value === undefined || form?.kind !== 'scores' || !form.areWeights) continue;
    const isOnce = !ancestorsOf(product).some(
      ({ name, from }) => from >= statement.from && /Lambda|Comprehension/.test(name),
    );
    const text = callOf(form, textOf(script.source, value));
    const made = madeBy(script, weights, known);
    const removed = isOnce && !text.includes('#') ? removable(script, product, made, text, known) : null;
    if (removed !== null) return { product, removed, text };
  }
  return null;
}

function callOf({ query, key, scale, mask, dropout }: Scores, value: string): string {
  const hides = mask?.kind === 'hidden' ? [`hidden=${mask.hidden}`, `fill=${mask.fill}`] : [];
  const given = [
    ...[query, key, value],
    ...(scale.length > 0 ? [`scale=1.0 ${scale.join(' ')}`] : []),
    ...(mask?.kind === 'causal' ? ['causal=True'] : []),
    ...(mask?.kind === 'added' ? [`added=${mask.added}`] : []),
    ...hides,
    ...(dropout === null ? [] : [`dropout=${dropout}`]),
  ];
  return `fused_attention(${given.join(', ')})`;
}

/**
 * The statements that can be removed once a call replaces a product; null if one of them is still needed, or if a name
 * in the call has another value by then.
 */
function removable(
  { source }: TorchScript,
  product: SyntaxNode,
  made: readonly SyntaxNode[],
  call: string,
  known: ReadonlyMap<string, Known>,
): SyntaxNode[] | null {
  const around = functionOf(product);
  const own = statementOf(product);
  if (around === null) return null;
  const named = (name: string) => variablesIn(around).filter((each) => textOf(source, each) === name);
  const isWithin = (node: SyntaxNode, all: readonly SyntaxNode[]) =>
    all.some(({ from, to }) => node.from >= from && node.to <= to);
  const words = new Set(call.match(/[A-Za-z_]\w*/g) ?? []);
  // A table may be used elsewhere, too; then it stays.
  let removed = [...made];
  for (let isDone = false; !isDone; ) {
    const kept = removed.filter((statement) =>
      namesGiven(source, statement).every(
        (name) => !words.has(name) && named(name).every((each) => isWithin(each, [...removed, product])),
      ),
    );
    isDone = kept.length === removed.length;
    removed = kept;
  }
  const staying = made.filter((statement) => !isWithin(statement, removed));
  const areTables = staying.every((statement) =>
    namesGiven(source, statement).every((name) => known.get(name)?.form.kind === 'table'),
  );
  if (!areTables || removed.some((statement) => !hasOwnLines(source, statement))) return null;
  const first = Math.min(own.from, ...made.map(({ from }) => from));
  const between = childrenOf(own.parent ?? own).filter(
    (each) => each.from >= first && each.to <= own.from && !isWithin(each, removed),
  );
  // A mask that is made in between is not read before.
  const isReadBefore = (name: string, place: SyntaxNode) =>
    words.has(name) &&
    made.some(
      (each) => each.from < place.from && variablesIn(each).some((node) => textOf(source, node) === name),
    );
  const changes = between.some(
    (each) =>
      namesGiven(source, each).some((name) => isReadBefore(name, each)) || /\w_\(/.test(textOf(source, each)),
  );
  return changes ? null : removed;
}

/** The names that a node, and the statements below it, assign or change. */
function namesGiven(source: string, node: SyntaxNode): string[] {
  const statements = [
    ...nodesOf(node, 'AssignStatement'),
    ...nodesOf(node, 'UpdateStatement'),
    ...nodesOf(node, 'ForStatement'),
    ...nodesOf(node, 'WithStatement'),
    ...nodesOf(node, 'DeleteStatement'),
    ...nodesOf(node, 'NamedExpression'),
    ...nodesOf(node, 'FunctionDefinition'),
  ];
  return statements.flatMap((statement) => {
    const children = childrenOf(statement);
    const end = children.findIndex(({ name }) => /^(?:AssignOp|UpdateOp|in|Body)$/.test(name));
    const targets = end < 0 ? children : children.slice(0, end);
    return targets.flatMap(variablesIn).map((each) => textOf(source, each));
  });
}
