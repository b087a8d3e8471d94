import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { listExperiments } from '../store/index.ts';
import type { Context } from './context.ts';
import { readableExperiments } from './locate.ts';
import type { Flag, Verb } from './verb.ts';
import { type VerbEntry, verbs } from './verbs.ts';

export interface Choice {
  value: string;
  description: string;
}

/** The words before the cursor, parsed. */
interface Line {
  /** The words of the command's name, as far as they are typed. */
  names: string[];
  verb: Verb | null;
  /** The arguments typed so far. */
  given: string[];
  /** A flag whose value comes next. */
  open: Flag | null;
}

/**
 * What can come next on a command line; empty if a file name can, or if mlab does not know.
 * @param words of the line, without the program; the last is the one at the cursor, which may be empty. Bash splits off
 *   `=` as a word of its own.
 * @param globals flags of every command
 */
export async function completionOf(
  context: Context,
  words: readonly string[],
  globals: readonly Flag[],
): Promise<Choice[]> {
  const last = words.at(-1) ?? '';
  const current = last === '=' ? '' : last;
  const { names, verb, given, open } = await read(words.slice(0, -1), globals);
  const flags = [...(verb?.flags ?? []), ...globals];
  if (open !== null) return matching(await valuesOf(context, open, current), current, open.many === 'commas');
  const [name = '', ...value] = current.split('=');
  const flag = value.length > 0 ? flagCalled(name, flags) : undefined;
  if (flag !== undefined) {
    const found = matching(
      await valuesOf(context, flag, value.join('=')),
      value.join('='),
      flag.many === 'commas',
    );
    return found.map((each) => ({ ...each, value: `${name}=${each.value}` }));
  }
  if (current.startsWith('-'))
    return matching(
      flags.map(({ flags: spelling, description }) => ({ value: longOf(spelling), description })),
      current,
    );
  if (verb === null) return matching(nextNames(names), current);
  const argument =
    verb.arguments[given.length] ?? verb.arguments.findLast((each) => each.name.includes('...'));
  const { choices, name: placeholder = '' } = argument ?? {};
  return matching(choices?.map(undescribed) ?? placeholderValues(context, placeholder, current), current);
}

async function read(words: readonly string[], globals: readonly Flag[]): Promise<Line> {
  const line: Line = { names: [], verb: null, given: [], open: null };
  for (const word of words) {
    if (word === '=') continue;
    if (line.open !== null) line.open = null;
    else if (word.startsWith('-')) {
      const flag = flagCalled(word, [...(line.verb?.flags ?? []), ...globals]);
      if (flag?.flags.includes('<')) line.open = flag;
    } else if (line.verb !== null) line.given.push(word);
    else {
      line.names.push(word);
      line.verb = (await verbs.find(({ name }) => name === line.names.join(' '))?.load()) ?? null;
    }
  }
  return line;
}

/** The words that can come next in a command's name. */
function nextNames(names: readonly string[]): Choice[] {
  const fitting = verbs.filter(({ name }) => names.every((word, index) => name.split(' ')[index] === word));
  const next = Map.groupBy(fitting, ({ name }) => name.split(' ')[names.length] ?? '');
  return [...next].map(([value, entries]) => ({ value, description: summaryOf(entries, names.length) }));
}

function summaryOf(entries: readonly VerbEntry[], depth: number): string {
  const inner = entries.flatMap(({ name }) => name.split(' ')[depth + 1] ?? []);
  return inner.length > 0 ? inner.join(', ') : (entries[0]?.summary ?? '');
}

/** For flags whose placeholder does not say what they take. */
const placeholders: Readonly<Record<string, string>> = { '--from': '<run>', '--task': '<tasks>' };

async function valuesOf(context: Context, { flags, choices }: Flag, current: string): Promise<Choice[]> {
  if (choices !== undefined) return choices.map(undescribed);
  const long = longOf(flags);
  if (long === '--suite') {
    const { findTasks, suites } = await import('../tasks/index.ts');
    return [...suites(findTasks(context.folders.tasks).tasks).keys()].map(undescribed);
  }
  if (long === '--agent' || long === '--install') {
    const { agents } = await import('../agents/index.ts');
    return agents.map(({ name, summary }) => ({ value: name, description: summary }));
  }
  const usual = placeholders[long];
  return placeholderValues(context, usual ?? flags, current);
}

/** The values for a placeholder, such as `<run>` or `[tasks...]`. */
function placeholderValues(context: Context, placeholder: string, current: string): Choice[] {
  if (/[<[]tasks?[\].>]/.test(placeholder)) return taskNames(context);
  if (/[<[]runs?[\].>]/.test(placeholder)) return runNames(context, current);
  if (/[<[]experiments\./.test(placeholder)) return experimentNames(context);
  return [];
}

function taskNames({ folders }: Context): Choice[] {
  const names = folders.tasks.flatMap((folder) =>
    readdirSync(folder).filter((name) => existsSync(join(folder, name, 'task.yaml'))),
  );
  return [...new Set(names)].map(undescribed);
}

function experimentNames({ folders }: Context): Choice[] {
  return listExperiments(folders.experiments).map(({ name }) => undescribed(name));
}

/** Experiments; once one is typed, its runs. */
function runNames(context: Context, current: string): Choice[] {
  const [name, run] = current.split('/');
  if (run === undefined) return experimentNames(context);
  const runs = readableExperiments({ ...context, log: () => {} }).find(
    (experiment) => experiment.name === name,
  )?.runIds;
  return (runs ?? []).map((id) => undescribed(`${name}/${id}`));
}

function undescribed(value: string): Choice {
  return { value, description: '' };
}

/** Bash inserts completions unquoted, and names may come from others: only what no shell splits or expands. */
const harmless = /^[\w./+-]+$/;

/** Choices that start with the word; in a comma-separated list, with its last part. */
function matching(choices: readonly Choice[], word: string, commas = false): Choice[] {
  const before = commas ? word.slice(0, word.lastIndexOf(',') + 1) : '';
  const begun = word.slice(before.length);
  const fitting = choices.filter(({ value }) => value.startsWith(begun) && harmless.test(value));
  return fitting.map((each) => ({ ...each, value: `${before}${each.value}` }));
}

function flagCalled(word: string, flags: readonly Flag[]): Flag | undefined {
  return flags.find(({ flags: spelling }) => longOf(spelling) === word);
}

function longOf(flags: string): string {
  return flags.match(/--[\w-]+/)?.[0] ?? flags;
}

/** One line per choice, as the shells' completion scripts read them. */
export function completionText(choices: readonly Choice[]): string {
  return choices
    .map(({ value, description }) => `${value}\t${description.replaceAll(/\s+/g, ' ')}`)
    .join('\n');
}
