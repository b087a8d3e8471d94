import { z } from 'zod';
import { parseShallowJson } from '../../lib/shallow-json.ts';
import type { Action } from '../../schema/index.ts';
import { readInput } from '../common/replies/input.ts';
import type { KnownAction } from '../common/replies/known-action.ts';
import { type LooseObject, readLooseObject } from '../common/replies/loose-object.ts';
import { matchActionName } from '../common/replies/names.ts';

/** The command and thoughts of a reply, or what is wrong with it, for the model. */
export type CommandReading =
  | { ok: true; action: Action; thoughts: Record<string, string> }
  | { ok: false; problem: string };

const StrictReply = z.object({
  thoughts: z.unknown().optional(),
  command: z.object({
    name: z.string().min(1),
    args: z.record(z.string(), z.unknown()).default({}),
  }),
});

/** AutoGPT's entries and their names in the trace. */
const entryNames = {
  text: 'Thought',
  reasoning: 'Reasoning',
  plan: 'Plan',
  criticism: 'Criticism',
  speak: 'Summary',
} as const;

/** The most objects that are tried in the text: a reply may show an example before the one that counts. */
const maxObjects = 20;

/**
 * Reads the command of a reply: strict JSON as it is; other JSON as models write it, without closing what the model
 * left open. An unknown action name is kept: the environment answers it with a list of the actions.
 */
export function readCommand(text: string, actions: readonly KnownAction[]): CommandReading {
  const found = replyObject(text);
  if (found === null) return { ok: false, problem: 'Your reply holds no JSON object with a "command".' };
  const { object, source } = found;
  return object.strict ? readStrict(source, actions) : readLoose(object, actions);
}

/** The first object that has a command. One that is never closed ends the search, because what follows is inside it. */
function replyObject(text: string): { object: LooseObject; source: string } | null {
  let start = text.indexOf('{');
  for (let count = 0; start >= 0 && count < maxObjects; count += 1) {
    const object = readLooseObject(text, start, ['thoughts', 'command']);
    const isReply = object.members.some(({ name }) => name === 'command') || object.cutMember === 'command';
    if (isReply) return { object, source: text.slice(start, object.end) };
    if (object.ending === 'open') return null;
    start = text.indexOf('{', Math.max(object.end, start + 1));
  }
  return null;
}

function readStrict(source: string, actions: readonly KnownAction[]): CommandReading {
  const reply = StrictReply.safeParse(parsed(source));
  if (!reply.success) {
    const problems = reply.error.issues.map(({ path, message }) => `"${path.join('.')}": ${message}`);
    return { ok: false, problem: `Your JSON has not the right form: ${problems.join('; ')}.` };
  }
  const { thoughts, command } = reply.data;
  const name = matchActionName(command.name, namesOf(actions)) ?? command.name;
  return { ok: true, action: { name, args: command.args }, thoughts: thoughtsOf(thoughts) };
}

function parsed(source: string): unknown {
  try {
    return parseShallowJson(source);
  } catch {
    return undefined;
  }
}

function readLoose(reply: LooseObject, actions: readonly KnownAction[]): CommandReading {
  const command = innerObject(reply, 'command', ['name', 'args']);
  const written = command?.members.find(({ name }) => name === 'name')?.text.trim() ?? '';
  if (reply.cutMember === 'command' || command?.ending === 'open') {
    return { ok: false, problem: 'Your reply ends before its "command" is whole.' };
  }
  if (command === null || written === '') {
    return {
      ok: false,
      problem: 'The "command" of your reply can not be read: it needs a "name" and "args".',
    };
  }
  const thoughts = innerObject(reply, 'thoughts', Object.keys(entryNames));
  const said = thoughtsOf(Object.fromEntries(thoughts?.members.map(({ name, text }) => [name, text]) ?? []));
  const name = matchActionName(written, namesOf(actions));
  const action = actions.find((candidate) => candidate.name === name);
  if (action === undefined) return { ok: true, action: { name: written, args: {} }, thoughts: said };
  const args = command.members.find((member) => member.name === 'args')?.text ?? '{}';
  const input = readInput(args, args.length, action);
  if (!input.ok) {
    const missing = input.missing.map((argument) => `"${argument}"`).join(', ');
    return { ok: false, problem: `The "args" of ${action.name} can not be read, or lack ${missing}.` };
  }
  return { ok: true, action: { name: action.name, args: input.args }, thoughts: said };
}

function innerObject(object: LooseObject, name: string, expected: readonly string[]): LooseObject | null {
  const text = object.members.find((member) => member.name === name)?.text.trim();
  return text?.startsWith('{') ? readLooseObject(text, 0, expected) : null;
}

function thoughtsOf(thoughts: unknown): Record<string, string> {
  if (typeof thoughts === 'string') return thoughts.trim() === '' ? {} : { Thought: thoughts };
  const given = z.record(z.string(), z.unknown()).safeParse(thoughts).data ?? {};
  const entries = Object.entries(entryNames).map(([name, entry]) => [entry, plainText(given[name])] as const);
  return Object.fromEntries(entries.filter(([, text]) => text.trim() !== ''));
}

/** Plans are either a text or a list. */
function plainText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(plainText).join('\n');
  return value === undefined || value === null ? '' : (JSON.stringify(value) ?? '');
}

function namesOf(actions: readonly KnownAction[]): string[] {
  return actions.map(({ name }) => name);
}
