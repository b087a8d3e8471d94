import { childrenOf, nodesOf, type SyntaxNode, textOf } from '../../python-source.ts';
import { fullNameOf } from '../python-edit.ts';
import { claimParameters } from './ranks.ts';
import { givenTo, sidesOf } from './syntax.ts';

/**
 * What a name is that is no array of fractions: a Python list of numbers, something whose entries are no numbers or have
 * no order (texts, dictionaries, sets), or whole numbers, which cut off what is added to them.
 */
export type Kind = 'list' | 'other' | 'whole';

/** Of every name, all kinds that it is given anywhere in the script. */
export type Kinds = ReadonlyMap<string, ReadonlySet<Kind>>;

export function kindsOf(source: string, top: SyntaxNode, imports: ReadonlyMap<string, string>): Kinds {
  const kinds = new Map<string, Set<Kind>>();
  const claim = (name: string, node: SyntaxNode) => {
    const kind = kindOf(node, { source, imports, kinds });
    if (kind !== null) kinds.set(name, (kinds.get(name) ?? new Set()).add(kind));
  };
  // Twice, since a function may stand before what it is called with.
  for (const _ of [1, 2]) {
    for (const definition of nodesOf(top, 'FunctionDefinition'))
      claimParameters(source, top, definition, claim);
    for (const statement of nodesOf(top, 'AssignStatement')) {
      const { targets, values } = sidesOf(statement);
      for (const [place, target] of targets.entries()) {
        const value = values[targets.length === values.length ? place : values.length - 1];
        if (target.name === 'VariableName' && value !== undefined) claim(textOf(source, target), value);
      }
    }
  }
  return kinds;
}

interface Known {
  source: string;
  imports: ReadonlyMap<string, string>;
  kinds: Kinds;
}

function kindOf(node: SyntaxNode, known: Known): Kind | null {
  const text = textOf(known.source, node);
  if (/String$|^(?:Dictionary|Set)/.test(node.name)) return 'other';
  if (/^Array(?:Comprehension)?Expression$/.test(node.name))
    return childrenOf(node).some(({ name }) => /String$|^(?:Dictionary|Set)/.test(name)) ? 'other' : 'list';
  if (node.name === 'Number') return /^\d+$/.test(text) ? 'whole' : null;
  if (node.name === 'VariableName') return of(known, text);
  if (node.name === 'CallExpression') return kindOfCall(node, known);
  if (node.name === 'MemberExpression' && /\[[^\]]*:[^\]]*\]$/.test(text)) return ownerKind(node, known);
  if (node.name !== 'BinaryExpression' || !/^[-+*]$/.test(text.slice(...signOf(node)))) return null;
  const sides = [node.firstChild, node.lastChild].map((side) => side && kindOf(side, known));
  if (sides.includes('other')) return 'other';
  if (sides.includes('list')) return 'list';
  return sides.every((side) => side === 'whole') ? 'whole' : null;
}

function signOf(node: SyntaxNode): [number, number] {
  const sign = node.firstChild?.nextSibling ?? node;
  return [sign.from - node.from, sign.to - node.from];
}

/** The kind of a name, where it has one alone. */
function of({ kinds }: Known, name: string): Kind | null {
  const [kind, ...more] = kinds.get(name) ?? [];
  return kind === undefined || more.length > 0 ? null : kind;
}

function ownerKind({ firstChild }: SyntaxNode, known: Known): Kind | null {
  return firstChild?.name === 'VariableName' ? of(known, textOf(known.source, firstChild)) : null;
}

function kindOfCall(call: SyntaxNode, known: Known): Kind | null {
  const callee = call.firstChild;
  if (callee === null) return null;
  const name = fullNameOf(known.source, callee, known.imports) ?? textOf(known.source, callee);
  const given = textOf(known.source, call).slice(callee.to - call.from);
  if (/^(?:list|sorted)$|\.tolist$/.test(name)) return 'list';
  if (/^(?:dict|set|str|open|input|collections\.\w+)$|\.(?:split|join|read|format)$/.test(name))
    return 'other';
  if (/\.astype$/.test(name)) return /^\(\s*(?:\w+\.)?["']?u?int/.test(given) ? 'whole' : null;
  if (/\bdtype\s*=/.test(given)) return /\bdtype\s*=\s*(?:\w+\.)?["']?u?int/.test(given) ? 'whole' : null;
  if (/\.(?:integers|randint|bincount|argsort)$|^len$|^int$/.test(name)) return 'whole';
  if (/^numpy\.(?:arange|array|full)$/.test(name))
    return /\d/.test(given) && /^[\d\s,()[\]-]*$/.test(given) ? 'whole' : null;
  const [first] = givenTo(call);
  if (/^numpy\.(?:zeros_like|ones_like|empty_like|copy)$/.test(name) && first !== undefined)
    return kindOf(first, known);
  return /\.copy$/.test(name) ? ownerKind(callee, known) : null;
}
