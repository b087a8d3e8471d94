import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { parseShallowJson } from '../../../lib/shallow-json.ts';

const folder = join(import.meta.dirname, '../../../../python/automl');

/** The possible values of a script's settings. */
export type Setting = string | number | boolean | readonly Setting[];
export const Setting: z.ZodType<Setting> = z.lazy(() =>
  z.union([z.string(), z.number(), z.boolean(), z.array(Setting)]),
);

/**
 * Files in `python/automl` as one script, since an entry script must be self-contained: first their imports, except
 * those of each other, then their definitions, then the last line. Some settings, lines such as `NAME = value`, are
 * replaced. These files are part of the agent like its sources, and as constant. Throws for a name that is not a
 * setting.
 */
export function pythonScript(
  parts: readonly string[],
  settings: Readonly<Record<string, Setting>>,
  lastLine: string,
): string {
  const texts = parts.map(pythonPart);
  const bodies = texts.map((text) => text.replace(importPattern, '').trim());
  const text = [importsOf(texts), ...bodies, `if __name__ == "__main__":\n    ${lastLine}`].join('\n\n');
  return `${withSettings(text, settings).replace(/\n{4,}/g, '\n\n\n')}\n`;
}

/** The text of a file in `python/automl`: a script of its own, or a part of one. */
export function pythonPart(name: string): string {
  return readFileSync(join(folder, `${name}.py`), 'utf8');
}

/** What a script printed as JSON after a word at the start of a line; null if it is something else. */
export function readPrinted<Type>(word: string, schema: z.ZodType<Type>, printed: string): Type | null {
  const line = printed.split('\n').find((each) => each.startsWith(`${word} `));
  if (line === undefined) return null;
  try {
    return schema.safeParse(parseShallowJson(line.slice(word.length))).data ?? null;
  } catch {
    return null;
  }
}

const importPattern = /^(?:from \S+ import (?:\([^)]*\)|.+)|import .+)\n/gm;

/** All imports, without those of the project's own files. */
function importsOf(texts: readonly string[]): string {
  const found = texts.flatMap((text) => text.match(importPattern) ?? []).map((each) => each.trim());
  return [...new Set(found)]
    .filter((each) => !each.startsWith('from automl.'))
    .sort()
    .join('\n');
}

function withSettings(script: string, settings: Readonly<Record<string, Setting>>): string {
  let text = script;
  for (const [setting, value] of Object.entries(settings)) {
    const line = new RegExp(`^(${setting}(?:: [^=\\n]+)?) = .*$`, 'm');
    if (!line.test(text)) throw new Error(`the script has no setting ${setting}`);
    text = text.replace(line, (_, start: string) => `${start} = ${literal(value, 90 - start.length)}`);
  }
  return text;
}

/** A value in Python syntax, broken into lines if it is wider than `room` characters. */
function literal(value: Setting, room: number): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  // A JSON text of a string or a finite number means the same in Python.
  if (typeof value === 'string' || typeof value === 'number') return JSON.stringify(value);
  const parts = value.map((part) => literal(part, Number.POSITIVE_INFINITY));
  const line = `[${parts.join(', ')}]`;
  return line.length <= room ? line : `[\n${parts.map((part) => `    ${part},\n`).join('')}]`;
}
