import { parseShallowJson } from '../../../lib/shallow-json.ts';
import type { KnownAction } from './known-action.ts';
import { type LooseObject, type Member, readLooseObject } from './loose-object.ts';
import { matchArgumentName } from './names.ts';

/** What had to be forgiven in an input. */
export type InputRepair =
  /** Not JSON and nothing else: a code block, text around it, quotes, comments, … */
  | 'input_not_json'
  /** The closing brace is missing. */
  | 'input_not_closed'
  /** An argument's name was written in another way. */
  | 'argument_name'
  /** Arguments that the action does not have were left out. */
  | 'unknown_argument';

export type InputReading =
  | { ok: true; args: Record<string, unknown>; repairs: InputRepair[]; end: number }
  | {
      ok: false;
      reason: 'no_input' | 'unreadable_input' | 'cut_off' | 'missing_argument';
      /** Arguments of the action that are not there, or not whole. */
      missing: string[];
    };

/**
 * Reads the arguments of `action` from `text`, which begins behind the label and goes to the end of the reply; the
 * object must begin before `sectionEnd`, where the next label stands.
 *
 * An input that is JSON and nothing else keeps its types. In any other, what is not a text is given as it was written
 * (`10` → "10", `["a", "b"]` → that text): this is how the recorded runs have it.
 */
export function readInput(text: string, sectionEnd: number, action: KnownAction): InputReading {
  const declared = action.arguments.map(({ name }) => name);
  const whole = wholeJson(text);
  const section = text.slice(0, sectionEnd);
  const start = section.indexOf('{');
  const object = start >= 0 ? readLooseObject(text, start, declared) : withoutBraces(section, declared);
  if (object === null) {
    if (declared.length === 0) return { ok: true, args: {}, repairs: ['input_not_json'], end: 0 };
    const empty = section.replace(/[\s`*]|json/gi, '') === '';
    return { ok: false, reason: empty ? 'no_input' : 'unreadable_input', missing: declared };
  }
  const { values, repairs } = assign(object.members, declared);
  const needed = action.arguments.filter(({ optional }) => optional !== true).map(({ name }) => name);
  const missing = needed.filter((name) => !values.has(name));
  if (object.ending === 'unreadable') return { ok: false, reason: 'unreadable_input', missing };
  if (missing.length > 0) {
    return { ok: false, reason: object.ending === 'open' ? 'cut_off' : 'missing_argument', missing };
  }
  if (object.ending === 'open') repairs.push('input_not_closed');
  if (whole === null) repairs.push('input_not_json');
  const given = declared.filter((name) => values.has(name));
  const args = Object.fromEntries(
    given.map((name) => {
      const member = values.get(name);
      return [name, whole === null ? member?.text : whole[member?.name ?? '']];
    }),
  );
  return { ok: true, args, repairs, end: object.end };
}

function wholeJson(text: string): Record<string, unknown> | null {
  try {
    const value = parseShallowJson(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
    return Object.fromEntries(Object.entries(value));
  } catch {
    return null;
  }
}

/** `"file_name": "train.py"` alone: members that stand outside of any braces. */
function withoutBraces(section: string, declared: readonly string[]): LooseObject | null {
  const first = /["']?([\w -]+)["']?\s*:/.exec(section);
  if (first === null || matchArgumentName(first[1] ?? '', declared) === null) return null;
  const object = readLooseObject(`{${section.slice(first.index)}`, 0, declared);
  return { ...object, end: object.end - 1 + first.index };
}

/** Which member is which argument. A name that differs is taken only for an argument that nobody else is. */
function assign(members: readonly Member[], declared: readonly string[]) {
  const values = new Map<string, Member>();
  const repairs = new Set<InputRepair>();
  for (const member of members) if (declared.includes(member.name)) values.set(member.name, member);
  for (const member of members) {
    if (declared.includes(member.name)) continue;
    const name = matchArgumentName(
      member.name,
      declared.filter((candidate) => !values.has(candidate)),
    );
    if (name !== null) values.set(name, member);
    repairs.add(name === null ? 'unknown_argument' : 'argument_name');
  }
  return { values, repairs: [...repairs] };
}
