import { ancestorsOf, childrenOf, nodesOf, parsePython, type SyntaxNode, textOf } from '../python-source.ts';
import { pythonBuiltins } from './python-builtins.ts';

/** A place in a script where something is missing. */
export interface Placeholder {
  /**
   * - `undefined name`: used, but never assigned
   * - `empty body`: a function that does nothing, or only says that it is not written
   * - `marked body`: a function or class whose own text says that it is still to be written
   * - `marker`: a comment that says so anywhere else
   */
  kind: 'undefined name' | 'empty body' | 'marked body' | 'marker';
  /** The undefined name, the function's name, or the comment. */
  text: string;
  /** Line of the script, from 1. */
  line: number;
}

const marks = /\bTODO\b|\bFIXME\b/;
const spelledOutMarks =
  /\*{3,}\s*\w[^*]*\*{3,}|\byour (?:own )?(?:model|code|solution|implementation)\b|\b(?:code|model|implementation) (?:goes )?here\b|\bfill (?:me |this |the )?(?:gap |placeholder )?in\b/i;

function isMark(text: string): boolean {
  return marks.test(text) || spelledOutMarks.test(text);
}

/** Every placeholder of a script, in the order of the source. Never throws, whatever the text. */
export function findPlaceholders(source: string): Placeholder[] {
  const top = parsePython(source);
  return [...undefinedNames(source, top), ...bodies(source, top), ...markers(source, top)].sort(
    (left, right) => left.line - right.line,
  );
}

function lineOf(source: string, node: SyntaxNode): number {
  return source.slice(0, node.from).split('\n').length;
}

/** Names that are used and never assigned, each once. A name that is bound anywhere counts as defined. */
function undefinedNames(source: string, top: SyntaxNode): Placeholder[] {
  // `from x import *` and the like can define anything.
  if (/^\s*from\s+\S+\s+import\s+\*|\b(?:globals|locals|exec)\s*\(/m.test(source)) return [];
  const bound = new Set<string>(pythonBuiltins);
  const used: SyntaxNode[] = [];
  for (const node of nodesOf(top, 'VariableName')) {
    if (isBinding(node)) bound.add(textOf(source, node));
    else if (!isKeyword(node) && node.prevSibling?.name !== '.') used.push(node);
  }
  const seen = new Set<string>();
  return used.flatMap((node): Placeholder[] => {
    const text = textOf(source, node);
    if (bound.has(text) || seen.has(text)) return [];
    seen.add(text);
    return [{ kind: 'undefined name', text, line: lineOf(source, node) }];
  });
}

/** The name of a keyword argument: `f(name=1)`. */
function isKeyword(node: SyntaxNode): boolean {
  return node.parent?.name === 'ArgList' && node.nextSibling?.name === 'AssignOp';
}

/** Whether this occurrence of a name assigns a value to it. */
function isBinding(node: SyntaxNode): boolean {
  for (const [place, parent] of ancestorsOf(node).entries()) {
    const child = place === 0 ? node : ancestorsOf(node)[place - 1];
    switch (parent.name) {
      case 'ImportStatement':
      case 'ScopeStatement':
      case 'CapturePattern':
      case 'AsPattern':
        return true;
      case 'FunctionDefinition':
      case 'ClassDefinition':
      case 'TypeDefinition':
      case 'TypeParamList':
        return place === 0;
      case 'ParamList':
        return place === 0 && node.prevSibling?.name !== 'AssignOp';
      case 'AssignStatement':
      case 'NamedExpression':
        // `width: int` without a value declares a field.
        return child !== undefined && (assignFollows(child) || child.nextSibling?.name === 'TypeDef');
      // A generator may be written directly in the brackets of a call.
      case 'ArgList':
      case 'ForStatement':
      case 'ComprehensionExpression':
      case 'ArrayComprehensionExpression':
      case 'DictionaryComprehensionExpression':
      case 'SetComprehensionExpression':
        return child !== undefined && isLoopTarget(child);
      case 'WithStatement':
      case 'TryStatement':
        return child !== undefined && (child.prevSibling?.name === 'as' || isAfterAs(child));
      case 'TupleExpression':
      case 'ArrayExpression':
      case 'ParenthesizedExpression':
        break;
      default:
        return parent.name.endsWith('Pattern');
    }
  }
  return false;
}

function assignFollows(node: SyntaxNode): boolean {
  for (let next = node.nextSibling; next !== null; next = next.nextSibling) {
    if (next.name === 'AssignOp') return true;
  }
  return false;
}

/** Between `for` and `in`. */
function isLoopTarget(node: SyntaxNode): boolean {
  for (let before = node.prevSibling; before !== null; before = before.prevSibling) {
    if (before.name === 'in') return false;
    if (before.name === 'for') return true;
  }
  return false;
}

function isAfterAs(node: SyntaxNode): boolean {
  for (let before = node.prevSibling; before !== null; before = before.prevSibling) {
    if (before.name === 'as') return true;
    if (before.name !== ',') return false;
  }
  return false;
}

/** Functions that are still to be written. */
function bodies(source: string, top: SyntaxNode): Placeholder[] {
  return nodesOf(top, 'FunctionDefinition').flatMap((definition): Placeholder[] => {
    const body = definition.getChild('Body');
    const name = definition.getChild('VariableName');
    if (body === null || name === null || isMeantToBeEmpty(source, definition)) return [];
    const statements = childrenOf(body).filter(({ name: kind }) => kind !== ':' && kind !== 'Comment');
    const [first] = statements;
    const isDocumented = first !== undefined && isString(first);
    const own = isDocumented ? textOf(source, first) : '';
    const rest = statements.slice(isDocumented ? 1 : 0);
    const found = { text: textOf(source, name), line: lineOf(source, definition) };
    if (rest.every((each) => saysNothing(textOf(source, each)))) return [{ kind: 'empty body', ...found }];
    return isMark(own) ? [{ kind: 'marked body', ...found }] : [];
  });
}

function isString(statement: SyntaxNode): boolean {
  return statement.name === 'ExpressionStatement' && statement.firstChild?.name === 'String';
}

function saysNothing(statement: string): boolean {
  return /^(?:pass|\.{3}|return(?:\s+None)?|raise\s+NotImplementedError\b[\s\S]*)$/.test(statement.trim());
}

/**
 * Methods of abstract classes, protocols and overloads are implemented elsewhere; a few functions do nothing on
 * purpose.
 */
function isMeantToBeEmpty(source: string, definition: SyntaxNode): boolean {
  const owner = ancestorsOf(definition).find(({ name }) => name === 'ClassDefinition');
  const bases = owner?.getChild('ArgList');
  const decorated = definition.parent?.name === 'DecoratedStatement' ? textOf(source, definition.parent) : '';
  return (
    /^(?:\s*@\w*\.?(?:abstract\w*|overload)\b)/m.test(decorated) ||
    (bases !== null &&
      bases !== undefined &&
      /\b(?:ABC|Protocol|ABCMeta|Exception)\b/.test(textOf(source, bases))) ||
    /^__\w+__$/.test(textOf(source, definition.getChild('VariableName') ?? definition))
  );
}

function markers(source: string, top: SyntaxNode): Placeholder[] {
  return nodesOf(top, 'Comment').flatMap((comment): Placeholder[] => {
    const text = textOf(source, comment);
    return isMark(text) ? [{ kind: 'marker', text, line: lineOf(source, comment) }] : [];
  });
}
