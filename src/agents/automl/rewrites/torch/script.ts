import { nodesOf, parsePython, type SyntaxNode, textOf } from '../../python-source.ts';
import { fullNameOf, importedNames } from '../python-edit.ts';

/** A script that uses PyTorch, parsed for rewriters. */
export interface TorchScript {
  source: string;
  top: SyntaxNode;
  imports: ReadonlyMap<string, string>;
  calls: readonly SyntaxNode[];
}

/** Null for a script that does not import PyTorch. */
export function readTorchScript(source: string): TorchScript | null {
  const imports = importedNames(source);
  if (![...imports.values()].some((name) => /^torch(?:\.|$)/.test(name))) return null;
  const top = parsePython(source);
  return { source, top, imports, calls: nodesOf(top, 'CallExpression') };
}

/** The called expression as it is written: `self.model.train`. */
export function calleeText(source: string, call: SyntaxNode): string {
  return call.firstChild === null ? '' : textOf(source, call.firstChild).replace(/\s/g, '');
}

/** The full name of the called function: `torch.optim.SGD`; empty if it is not imported. */
export function calledName({ source, imports }: TorchScript, call: SyntaxNode): string {
  return fullNameOf(source, call.firstChild, imports) ?? '';
}

/** Calls of imported functions, by full name. */
export function callsOf(script: TorchScript, pattern: RegExp): SyntaxNode[] {
  return script.calls.filter((call) => pattern.test(calledName(script, call)));
}

/** The parent module as the script writes it, so that a sibling can be named: `nn` for `nn.Linear(…)`. */
export function moduleOf(source: string, call: SyntaxNode, otherwise: string): string {
  return /^(.*)\.\w+$/s.exec(calleeText(source, call))?.[1] ?? otherwise;
}
