import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type SourceEdit, type SyntaxNode, splice, syntaxErrors } from '../python-source.ts';
import { belowImports, lineOf } from './python-edit.ts';
import type { Rewrite } from './rewrite.ts';

const partsFolder = join(import.meta.dirname, '../../../../python/automl/parts');

/** Functions in `python/automl/parts` that rewrites insert into a script. */
export type ScriptPart = 'graph' | 'logarithms' | 'plan';

/** The content of a rewrite, before it is written out. */
export interface Draft extends Omit<Rewrite, 'source'> {
  edits: readonly SourceEdit[];
  /** Lines below the imports at the top, such as further imports; each one only if it is not there yet. */
  lines?: readonly string[];
  parts?: readonly ScriptPart[];
}

/** The rewrite of a draft; none if it changes nothing, its edits conflict or the result is not valid Python. */
export function written(source: string, { edits, lines = [], parts = [], ...rest }: Draft): Rewrite[] {
  const places = [...edits].sort((left, right) => left.from - right.from);
  const isConflict = places.some(({ from }, place) => from < (places[place - 1]?.to ?? 0));
  if (edits.length === 0 || isConflict) return [];
  const known = new Set(source.split('\n'));
  const texts = parts.map((part) => readFileSync(join(partsFolder, `${part}.py`), 'utf8').trim());
  const added = [
    ...lines.filter((line) => !known.has(line)).map((line) => `${line}\n`),
    ...texts.filter((text) => !source.includes(text)).map((text) => `\n\n${text}\n\n`),
  ];
  const whole = belowImports(splice(source, edits), added.join(''));
  return syntaxErrors(whole) > syntaxErrors(source) ? [] : [{ ...rest, source: whole }];
}

/** `in line 7`, `in lines 7 and 9`. */
export function inLines(source: string, nodes: readonly SyntaxNode[]): string {
  const lines = [...new Set(nodes.map((node) => lineOf(source, node)))].sort((left, right) => left - right);
  const last = lines.pop();
  return lines.length === 0 ? `in line ${last}` : `in lines ${lines.join(', ')} and ${last}`;
}
