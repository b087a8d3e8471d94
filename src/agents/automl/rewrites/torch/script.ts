import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Layer, modelsOf } from '../../layers.ts';
import {
  nodesOf,
  parsePython,
  type SourceEdit,
  type SyntaxNode,
  splice,
  syntaxErrors,
  textOf,
} from '../../python-source.ts';
import { fullNameOf, importedNames, lineOf, withImport } from '../python-edit.ts';
import type { Rewrite, Surroundings } from '../rewrite.ts';

const partsFolder = join(import.meta.dirname, '../../../../../python/automl/parts');

/** Functions and classes in `python/automl/parts` that rewrites insert into a script. */
export type ScriptPart = 'graph' | 'logarithms' | 'plan';

/** A script that uses PyTorch, parsed for rewriters. */
export interface TorchScript {
  source: string;
  top: SyntaxNode;
  imports: ReadonlyMap<string, string>;
  calls: readonly SyntaxNode[];
  /** The layers of each model. */
  models: readonly (readonly Layer[])[];
  /** The script's names for its models: texts before `.train()`, `.eval()` or `.parameters()`. */
  modelNames: ReadonlySet<string>;
  surroundings: Surroundings;
}

/** Null for a script that does not import PyTorch. */
export function readTorchScript(source: string, surroundings: Surroundings): TorchScript | null {
  const imports = importedNames(source);
  if (![...imports.values()].some((name) => /^torch(?:\.|$)/.test(name))) return null;
  const top = parsePython(source);
  const calls = nodesOf(top, 'CallExpression');
  const modelNames = new Set(
    calls.flatMap((call) => {
      const [, name] = /^([\w.]+)\.(?:train|eval|parameters)$/.exec(calleeText(source, call)) ?? [];
      return name === undefined || name === 'torch' ? [] : [name];
    }),
  );
  return { source, top, imports, calls, models: modelsOf(source), modelNames, surroundings };
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

/** The content of a rewrite, before it is written out. */
export interface Draft extends Omit<Rewrite, 'source'> {
  edits: readonly SourceEdit[];
  imports?: readonly string[];
  /** Statements directly below the imports at the top. */
  belowImports?: readonly string[];
  parts?: readonly ScriptPart[];
}

/** The rewrite of a draft; none if its edits conflict or the result is not valid Python. */
export function written({ source }: TorchScript, draft: Draft): Rewrite[] {
  return writtenWith(source, draft);
}

export function writtenWith(source: string, draft: Draft): Rewrite[] {
  const { edits, imports = [], belowImports = [], parts = [], ...rest } = draft;
  if (edits.length === 0 && belowImports.length === 0) return [];
  const places = edits.map(({ from, to }) => [from, to] as const).sort(([left], [right]) => left - right);
  if (places.some(([from], place) => from < (places[place - 1]?.[1] ?? 0))) return [];
  const edited = splice(source, edits);
  const imported = imports.reduce(withImport, edited);
  const set = belowImports.reduce((text, line) => belowImportsOf(text, `\n${line}`, '\n\n'), imported);
  const whole = parts.reduceRight(withPart, set);
  return syntaxErrors(whole) > syntaxErrors(source) ? [] : [{ ...rest, source: whole }];
}

/** The source with a part after the imports at its top, unless it is there already. */
function withPart(source: string, part: ScriptPart): string {
  const text = readFileSync(join(partsFolder, `${part}.py`), 'utf8').trim();
  return source.includes(text) ? source : belowImportsOf(source, `\n\n${text}`, '\n\n\n');
}

/** The source with lines after the imports at its top, and with this gap before the following code. */
function belowImportsOf(source: string, lines: string, gap: string): string {
  const marker = 'import automl_part_goes_here';
  return withImport(source, marker)
    .replace(new RegExp(`^${marker}\\n+`, 'm'), () => lines + gap)
    .replace(new RegExp(`^${marker}$`, 'm'), () => lines);
}

/** `in line 7`, `in lines 7 and 9`. */
export function inLines(source: string, nodes: readonly SyntaxNode[]): string {
  const lines = [...new Set(nodes.map((node) => lineOf(source, node)))].sort((left, right) => left - right);
  const last = lines.pop();
  return lines.length === 0 ? `in line ${last}` : `in lines ${lines.join(', ')} and ${last}`;
}
