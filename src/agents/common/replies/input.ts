import { parseShallowJson } from '../../../lib/shallow-json.ts';
import type { KnownAction } from './known-action.ts';
import { type LooseMember, type LooseObject, readLooseObject } from './loose-object.ts';
import { matchArgumentName } from './names.ts';

export type InputReading =
  | { ok: true; args: Record<string, unknown>; end: number }
  | {
      ok: false;
      reason: 'no_input' | 'unreadable_input' | 'cut_off' | 'missing_argument';
      /** Arguments of the action that are missing or incomplete. */
      missing: string[];
    };

/**
 * Reads the arguments of `action` from `text`, which begins after the label and goes to the end of the reply. The
 * object must begin before `sectionEnd`, the position of the next label. An input that is plain JSON keeps its types.
 * In any other input, a value that is not a text is returned as it was written (`10` → "10", `["a", "b"]` → that text),
 * as in the recorded runs.
 */
export function readInput(text: string, sectionEnd: number, action: KnownAction): InputReading {
  const declared = action.arguments.map(({ name }) => name);
  const whole = wholeJson(text);
  const section = text.slice(0, sectionEnd);
  const start = section.indexOf('{');
  const object = start >= 0 ? readLooseObject(text, start, declared) : withoutBraces(section, declared);
  if (object === null) {
    if (declared.length === 0) return { ok: true, args: {}, end: 0 };
    const empty = section.replace(/[\s`*]|json/gi, '') === '';
    return { ok: false, reason: empty ? 'no_input' : 'unreadable_input', missing: declared };
  }
  const values = assign(object.members, declared);
  const needed = action.arguments.filter(({ optional }) => optional !== true).map(({ name }) => name);
  const missing = needed.filter((name) => !values.has(name));
  if (object.ending === 'unreadable') return { ok: false, reason: 'unreadable_input', missing };
  if (missing.length > 0) {
    return { ok: false, reason: object.ending === 'open' ? 'cut_off' : 'missing_argument', missing };
  }
  const given = declared.filter((name) => values.has(name));
  const args = Object.fromEntries(
    given.map((name) => {
      const member = values.get(name);
      return [name, whole === null ? member?.text : whole[member?.name ?? '']];
    }),
  );
  return { ok: true, args, end: object.end };
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

/** A name is read whole, from its beginning: whatever follows, no part of it is read again. */
const firstName = /(?:["']|(?<![\w -]))(?=([\w -]+))\1["']?\s{0,80}:/;

/** `"file_name": "train.py"` alone: members without any braces around them. */
function withoutBraces(section: string, declared: readonly string[]): LooseObject | null {
  const first = firstName.exec(section);
  if (first === null || matchArgumentName(first[1] ?? '', declared) === null) return null;
  const object = readLooseObject(`{${section.slice(first.index)}`, 0, declared);
  return { ...object, end: object.end - 1 + first.index };
}

/**
 * Assigns members to arguments. A member with a different name is only taken for an argument that no other member
 * matches.
 */
function assign(members: readonly LooseMember[], declared: readonly string[]) {
  const values = new Map<string, LooseMember>();
  for (const member of members) if (declared.includes(member.name)) values.set(member.name, member);
  for (const member of members) {
    if (declared.includes(member.name)) continue;
    const name = matchArgumentName(
      member.name,
      declared.filter((candidate) => !values.has(candidate)),
    );
    if (name !== null) values.set(name, member);
  }
  return values;
}
