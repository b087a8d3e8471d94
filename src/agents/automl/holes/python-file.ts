import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../../../../python/automl');

/** What a setting of a script can be. */
export type Setting = string | number | boolean | readonly Setting[];

/**
 * The text of a script in `python/automl`, with some of its settings replaced: lines such as `NAME = value` at its
 * top. These files are part of the agent as its sources are, and as constant. Throws for a name that is no setting.
 */
export function pythonFile(
  name: 'look.py' | 'look_at_arrays.py' | 'table.py',
  settings: Readonly<Record<string, Setting>>,
): string {
  let text = readFileSync(join(folder, name), 'utf8');
  for (const [setting, value] of Object.entries(settings)) {
    const line = new RegExp(`^(${setting}(?:: [^=\\n]+)?) = .*$`, 'm');
    if (!line.test(text)) throw new Error(`${name} has no setting ${setting}`);
    text = text.replace(line, (_, start: string) => `${start} = ${literal(value, 90 - start.length)}`);
  }
  return text;
}

/** A value as Python writes it, broken into lines where it is wider than `room` characters. */
function literal(value: Setting, room: number): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  // A JSON text of a string or a finite number means the same in Python.
  if (typeof value === 'string' || typeof value === 'number') return JSON.stringify(value);
  const parts = value.map((part) => literal(part, Number.POSITIVE_INFINITY));
  const line = `[${parts.join(', ')}]`;
  return line.length <= room ? line : `[\n${parts.map((part) => `    ${part},\n`).join('')}]`;
}
