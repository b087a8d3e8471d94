import { isJsonObject } from '../../lib/json-values.ts';
import { workspacePath } from './step-texts.ts';

/** A call of a tool: its name and its arguments. */
export interface ToolUse {
  name: string;
  args: Readonly<Record<string, unknown>>;
}

/** The environment's own actions that write a text. Nothing else runs beside them. */
const actions: ReadonlySet<string> = new Set([
  ...['Write File', 'Append File', 'Edit File', 'Edit Script (AI)', 'Edit Script Segment (AI)'],
]);

/** Names that outside agents give to their tools for writing text, without case, signs and prefixes. */
const tools: ReadonlySet<string> = new Set([
  ...['write', 'writefile', 'writetofile', 'create', 'createfile', 'savefile', 'appendfile', 'insert'],
  ...['edit', 'editfile', 'multiedit', 'notebookedit', 'replace', 'replaceinfile', 'strreplace'],
  ...['strreplaceeditor', 'strreplacebasededittool', 'texteditor', 'fileeditor', 'applypatch', 'patch'],
]);

/** What an editor with several commands does without writing a text. */
const otherCommands: ReadonlySet<unknown> = new Set(['view', 'undo_edit']);

/**
 * Whether an action or a tool writes a text into a file. What else a program does between two calls of its model is not
 * known: so the tool must be known, and name the file.
 */
export function writesText({ name, args }: ToolUse, path: string): boolean {
  if (actions.has(name)) return true;
  if (!tools.has(plainName(name)) || otherCommands.has(args.command)) return false;
  return filesNamed(args).some((file) => leadsTo(file, path));
}

/** `mcp__files__Write_File`: writefile. */
function plainName(name: string): string {
  const own = name.slice(name.lastIndexOf('__') + 1);
  return own.toLowerCase().replaceAll(/[^a-z]/g, '');
}

const fileArgument = /(?:path|file|name|target|destination)$/i;
const patchedFile = /^(?:\*\*\* (?:Add File|Update File|Move to): |\+\+\+ (?:b\/)?)([^\t\r\n]+)/gm;

/** The files that arguments name, themselves or in a patch. */
function filesNamed(args: ToolUse['args']): string[] {
  return Object.entries(args).flatMap(([name, value]) => {
    if (typeof value === 'string') {
      return fileArgument.test(name)
        ? [value]
        : [...value.matchAll(patchedFile)].map(([, file = '']) => file);
    }
    // A patch may be described by an object.
    return name === 'operation' && isJsonObject(value) ? filesNamed(value) : [];
  });
}

/** Absolute paths begin differently in each sandbox. */
function leadsTo(file: string, path: string): boolean {
  const plain = withoutDots(workspacePath(file.trim()));
  return plain === path || (plain.startsWith('/') && plain.endsWith(`/${path}`));
}

/** `a/../b`: b. */
function withoutDots(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
}

/** The calls of a step: an outside agent may make several at once. */
export function callsOf(action: string, args: ToolUse['args']): ToolUse[] {
  const { calls } = args;
  if (!action.includes(' + ') && !Array.isArray(calls)) return [{ name: action, args }];
  if (!Array.isArray(calls)) return [];
  return calls.flatMap((call: unknown) => {
    if (!isJsonObject(call) || typeof call.name !== 'string') return [];
    return [{ name: call.name, args: isJsonObject(call.input) ? call.input : { input: call.input } }];
  });
}
