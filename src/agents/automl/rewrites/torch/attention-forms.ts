import { argumentOf, argumentsOf } from '../../arguments.ts';
import { childrenOf, type SyntaxNode, textOf } from '../../python-source.ts';
import { calledName, type TorchScript } from './script.ts';

/** What is added to scores, or masks some of them. The texts are Python. */
export type Mask =
  | { kind: 'causal' }
  | { kind: 'added'; added: string }
  | { kind: 'hidden'; hidden: string; fill: string };

/** Products of queries and keys, at some stage of becoming weights. */
export interface Scores {
  kind: 'scores';
  query: string;
  key: string;
  /** Factors with their operators: `* (0.5)`, `/ (math.sqrt(size))`. */
  scale: readonly string[];
  mask: Mask | null;
  /** Whether the softmax was taken. */
  areWeights: boolean;
  dropout: string | null;
}

/** A square table: minus infinity, true or one above its diagonal, or true or one up to the diagonal. */
interface Table {
  kind: 'table';
  holds: 'same infinity' | 'same one' | 'infinity above' | 'one above' | 'one below';
}

export type Form = Scores | Table;

/** What the names in a function stand for. */
export type Forms = ReadonlyMap<string, Form>;

const minusInfinity =
  /^(?:-\s*float\(\s*["']inf(?:inity)?["']\s*\)|float\(\s*["']-inf(?:inity)?["']\s*\)|-\s*(?:math|np|numpy|torch)\.inf|-\s*inf)$/;
/** In a row with nothing else, these outweigh what they are added to. */
const veryLow = /^(?:-\s*1(?:\.0*)?e(?:9|[1-3]\d)|(?:torch\.)?finfo\([\w.]+\)\.min)$/;

/** What an expression stands for; null if it is not understood. */
export function formOf(script: TorchScript, node: SyntaxNode | null, forms: Forms): Form | null {
  if (node === null) return null;
  if (node.name === 'VariableName') return forms.get(textOf(script.source, node)) ?? null;
  if (node.name === 'ParenthesizedExpression')
    return formOf(script, node.firstChild?.nextSibling ?? null, forms);
  if (node.name === 'UnaryExpression') return inverted(script, node, forms);
  if (node.name === 'BinaryExpression') return formOfOperation(script, node, forms);
  return node.name === 'CallExpression' ? formOfCall(script, node, forms) : null;
}

/** Both factors of a matrix product, in any notation. */
export function factorsOf(script: TorchScript, node: SyntaxNode): readonly [SyntaxNode, SyntaxNode] | null {
  const [left, sign, right] = childrenOf(node);
  if (node.name === 'BinaryExpression') {
    const isProduct = sign !== undefined && textOf(script.source, sign) === '@';
    return isProduct && left !== undefined && right !== undefined ? [left, right] : null;
  }
  if (node.name !== 'CallExpression') return null;
  const isFunction = /^torch\.(?:matmul|bmm)$/.test(calledName(script, node));
  const { object, name } = methodOf(script, node);
  const given = argumentsOf(script.source, node);
  if (given.some(({ keyword }) => keyword !== null)) return null;
  const [first, second] = given.map(({ value }) => value);
  if (isFunction) return first === undefined || second === undefined ? null : [first, second];
  const isMethod = object !== null && /^(?:matmul|bmm)$/.test(name) && calledName(script, node) === '';
  return isMethod && first !== undefined ? [object, first] : null;
}

/** The object and the name of a called method. */
function methodOf({ source }: TorchScript, call: SyntaxNode): { object: SyntaxNode | null; name: string } {
  const callee = call.firstChild;
  const last = callee?.name === 'MemberExpression' ? childrenOf(callee).at(-1) : undefined;
  if (last?.name !== 'PropertyName') return { object: null, name: '' };
  return { object: callee?.firstChild ?? null, name: textOf(source, last) };
}

function productOf(script: TorchScript, node: SyntaxNode): Scores | null {
  const factors = factorsOf(script, node);
  if (factors === null) return null;
  const [query, key] = factors.map((factor) => textOf(script.source, factor));
  if (query === undefined || key === undefined) return null;
  return {
    ...{ kind: 'scores', query, key: transposed(key), scale: [], mask: null },
    ...{ areWeights: false, dropout: null },
  };
}

/** The keys of `keys.transpose(-2, -1)`; for anything else, the text with its last two axes swapped. */
function transposed(text: string): string {
  const [, before] =
    /^([\w.]+)\.(?:mT|(?:transpose|swapaxes)\(\s*-(?:2,\s*-1|1,\s*-2)\s*\))$/.exec(text) ?? [];
  return before ?? `(${text}).transpose(-2, -1)`;
}

function formOfOperation(script: TorchScript, node: SyntaxNode, forms: Forms): Form | null {
  const product = productOf(script, node);
  if (product !== null) return product;
  const [left, sign, right] = childrenOf(node);
  if (left === undefined || sign === undefined || right === undefined) return null;
  return combined(script, formOf(script, left, forms), textOf(script.source, sign), right, forms, left);
}

/** What `scores / 8`, `scores + mask` or `mask == 0` stand for. */
export function combined(
  script: TorchScript,
  form: Form | null,
  sign: string,
  right: SyntaxNode,
  forms: Forms,
  left: SyntaxNode | null = null,
): Form | null {
  const text = textOf(script.source, right);
  if (form?.kind === 'table') return compared(form, `${sign}${text}`);
  if (form === null) {
    const swapped = sign === '+' || sign === '*' ? formOf(script, right, forms) : null;
    if (swapped?.kind !== 'scores' || left === null) return null;
    return combined(script, swapped, sign, left, forms);
  }
  if (form.areWeights || form.mask !== null) return null;
  const other = formOf(script, right, forms);
  if (sign === '*' || sign === '/') {
    if (other !== null || !isScalar(text)) return null;
    return { ...form, scale: [...form.scale, `${sign} (${text})`] };
  }
  if (sign !== '+') return null;
  const isCausal = other?.kind === 'table' && other.holds === 'infinity above';
  return { ...form, mask: isCausal ? { kind: 'causal' } : { kind: 'added', added: text } };
}

function compared({ kind, holds }: Table, comparison: string): Table | null {
  const asked = comparison.replace(/\s|\.0$/g, '');
  const isOne = /^(?:==1|==True|>0|!=0)$/.test(asked);
  const isZero = /^(?:==0|==False|<1|!=1)$/.test(asked);
  if (isOne && /^one (?:above|below)$/.test(holds)) return { kind, holds };
  return isZero && holds === 'one below' ? { kind, holds: 'one above' } : null;
}

function inverted(script: TorchScript, node: SyntaxNode, forms: Forms): Table | null {
  const [sign, value] = childrenOf(node);
  const form = value === undefined ? null : formOf(script, value, forms);
  const isLower = form?.kind === 'table' && form.holds === 'one below';
  // `~` of numbers is something else, so the table must have been converted to booleans first.
  const isTrue = /bool/.test(value === undefined ? '' : textOf(script.source, value));
  if (sign === undefined || textOf(script.source, sign) !== '~' || !isLower || !isTrue) return null;
  return { kind: 'table', holds: 'one above' };
}

/** A number, as far as its text shows: names, attributes, sizes and roots. */
function isScalar(text: string): boolean {
  const plain = text
    .replace(/\b(?:(?:math|np|numpy|torch)\.)?sqrt\(|\b(?:float|int)\(/g, '(')
    .replace(/\.size\(\s*-?\d+\s*\)|\.shape\[\s*-?\d+\s*\]/g, '');
  return /^[\w.\s+\-*/()]+$/.test(plain) && !/\w\s*\(/.test(plain);
}

function formOfCall(script: TorchScript, call: SyntaxNode, forms: Forms): Form | null {
  const product = productOf(script, call);
  if (product !== null) return product;
  const { source } = script;
  const full = calledName(script, call);
  const [, name] = /^torch\.(?:nn\.functional\.)?(\w+)$/.exec(full) ?? [];
  if (name !== undefined) {
    const [first] = argumentsOf(source, call);
    const fresh = filled(script, call, name);
    if (fresh !== null) return fresh;
    const value = first?.keyword === null ? first.value : null;
    return changed(script, call, name, formOf(script, value, forms), 1, forms);
  }
  const method = methodOf(script, call);
  if (full !== '' || method.object === null) return null;
  const own = dropped(script, call, forms);
  return own ?? changed(script, call, method.name, formOf(script, method.object, forms), 0, forms);
}

/** A new square table with the same number everywhere. */
function filled(script: TorchScript, call: SyntaxNode, name: string): Table | null {
  if (name !== 'full' && name !== 'ones') return null;
  const { source } = script;
  const texts = argumentsOf(source, call)
    .filter(({ keyword }) => keyword === null || keyword === 'size')
    .map(({ value }) => textOf(source, value));
  const [first = ''] = texts;
  const isGrouped = /^[([].*[)\]]$/s.test(first);
  const sizes = isGrouped ? first.slice(1, -1).split(',') : name === 'ones' ? texts : [];
  const [height, width] = sizes
    .map((size) => size.trim())
    .filter((size) => size !== '')
    .slice(-2);
  if (height === undefined || height !== width || height === '1' || /[()[\]]/.test(height)) return null;
  if (name === 'ones') return { kind: 'table', holds: 'same one' };
  const fill = argumentOf(source, call, 'fill_value', 1);
  const isInfinite = fill !== null && minusInfinity.test(textOf(source, fill));
  return isInfinite ? { kind: 'table', holds: 'same infinity' } : null;
}

/** The result of a function, or a method, on a form. `at`: the position of its first argument besides the form. */
function changed(
  script: TorchScript,
  call: SyntaxNode,
  name: string,
  form: Form | null,
  at: number,
  forms: Forms,
): Form | null {
  if (form === null) return null;
  if (form.kind === 'table') return changedTable(script, call, name, form, at);
  if (name === 'softmax' || form.areWeights) return changedWeights(script, call, name, form, at);
  const isFloat = name === 'float' && argumentsOf(script.source, call).length === 0;
  if (isFloat) return form;
  return /^masked_fill_?$/.test(name) ? hiddenBy(script, call, form, at, forms) : null;
}

/** The text of an argument; empty if it is not given. */
function given({ source }: TorchScript, call: SyntaxNode, keyword: string, place: number): string {
  const value = argumentOf(source, call, keyword, place);
  return value === null ? '' : textOf(source, value).replace(/\s/g, '');
}

function changedTable(
  script: TorchScript,
  call: SyntaxNode,
  name: string,
  { kind, holds }: Table,
  at: number,
): Table | null {
  if (/^one /.test(holds) && name === 'bool') return { kind, holds };
  if (holds === 'one below' && name === 'logical_not') return { kind, holds: 'one above' };
  const diagonal = given(script, call, 'diagonal', at) || '0';
  const isUpper = /^triu_?$/.test(name) && diagonal === '1';
  if (isUpper && holds === 'same infinity') return { kind, holds: 'infinity above' };
  if (isUpper && holds === 'same one') return { kind, holds: 'one above' };
  const isLower = /^tril_?$/.test(name) && diagonal === '0' && holds === 'same one';
  return isLower ? { kind, holds: 'one below' } : null;
}

function changedWeights(
  script: TorchScript,
  call: SyntaxNode,
  name: string,
  form: Scores,
  at: number,
): Scores | null {
  const count = argumentsOf(script.source, call).length;
  if (name === 'softmax' && !form.areWeights) {
    const isLast = given(script, call, 'dim', at) === '-1' && count <= at + 2;
    const isPrecise = /^(?:torch\.float(?:32)?)?$/.test(given(script, call, 'dtype', at + 1));
    return isLast && isPrecise ? { ...form, areWeights: true } : null;
  }
  const isSame =
    name === 'type_as' || (name === 'to' && /^[\w.]+\.dtype$/.test(given(script, call, 'dtype', at)));
  return isSame && count === 1 && at === 0 ? form : null;
}

function hiddenBy(
  script: TorchScript,
  call: SyntaxNode,
  form: Scores,
  at: number,
  forms: Forms,
): Scores | null {
  const { source } = script;
  const mask = argumentOf(source, call, 'mask', at);
  const value = argumentOf(source, call, 'value', at + 1);
  if (mask === null || value === null || form.mask !== null) return null;
  const fill = textOf(source, value);
  if (!minusInfinity.test(fill) && !veryLow.test(fill)) return null;
  const table = formOf(script, mask, forms);
  if (table?.kind === 'table' && table.holds === 'one above') return { ...form, mask: { kind: 'causal' } };
  return { ...form, mask: { kind: 'hidden', hidden: textOf(source, mask), fill } };
}

/** `self.dropout(weights)`, if that is a dropout layer. */
function dropped(script: TorchScript, call: SyntaxNode, forms: Forms): Scores | null {
  const { source } = script;
  const callee = call.firstChild === null ? '' : textOf(source, call.firstChild);
  const [, attribute] = /^self\.(\w+)$/.exec(callee) ?? [];
  const [only, ...others] = argumentsOf(source, call);
  if (attribute === undefined || only === undefined || others.length > 0) return null;
  const made = [...source.matchAll(new RegExp(`\\.${attribute}\\s*=(?!=)\\s*([\\w.]*)`, 'g'))];
  if (made.length === 0 || !made.every(([, maker]) => /(?:^|\.)Dropout$/.test(maker ?? ''))) return null;
  const form = formOf(script, only.value, forms);
  if (form?.kind !== 'scores' || !form.areWeights || form.dropout !== null) return null;
  return { ...form, dropout: `${callee}.p if ${callee}.training else 0.0` };
}
