import { dirname, relative, resolve } from 'node:path';
import { type Document, LineCounter, parseDocument } from 'yaml';
import { messageOf } from '../lib/errors.ts';
import { readRegularFile } from '../lib/regular-file.ts';
import { shellWord } from '../lib/shell-word.ts';
import { lineOfField } from '../lib/yaml-lines.ts';
import { TaskFile } from '../schema/index.ts';
import { explainIssue, type IssueExplanation } from './explain-issue.ts';
import type { TaskProblem } from './task-problem.ts';
import { withPlaceholders } from './unmeasured.ts';

export interface ReadTaskFile {
  /** Null if anything in it is wrong. */
  file: TaskFile | null;
  /** Its variants by name, each with what it shares with the task. */
  variants: Map<string, TaskFile>;
  problems: TaskProblem[];
  /** Line of a field in the file, from 1: of its nearest parent where the field itself is missing. */
  lineOf: (path: readonly PropertyKey[]) => number | null;
}

export interface ReadTaskOptions {
  /** To measure its figures: they may be missing or wrong. */
  toMeasure?: boolean;
}

/** Reads and checks a task.yaml; reports all problems at once. */
export function readTaskFile(path: string, options: ReadTaskOptions = {}): ReadTaskFile {
  let text: string;
  try {
    text = readRegularFile(path, maxBytes, { follow: true }).toString('utf8');
  } catch (error) {
    const problem = { file: path, field: null, line: null, message: `can't be read: ${messageOf(error)}` };
    return {
      ...nothing,
      problems: [{ ...problem, fix: 'make the file readable; a task starts with a task.yaml' }],
      lineOf: () => null,
    };
  }
  return parseTaskFile(path, text, options);
}

/** Far more than any task needs. */
const maxBytes = 2 ** 20;

export function parseTaskFile(path: string, text: string, options: ReadTaskOptions = {}): ReadTaskFile {
  try {
    return parseText(path, text, options);
  } catch (error) {
    // The library is recursive.
    if (!(error instanceof RangeError)) throw error;
    const problem = {
      file: path,
      field: null,
      line: null,
      message: 'not usable YAML: it is nested too deeply',
    };
    return {
      ...nothing,
      problems: [{ ...problem, fix: 'a task needs few levels: remove the others' }],
      lineOf: () => null,
    };
  }
}

function parseText(path: string, text: string, options: ReadTaskOptions): ReadTaskFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });
  const lineOf = (field: readonly PropertyKey[]) => lineOfField(document, lines, field);
  const wrong = [...document.errors, ...document.warnings];
  if (wrong.length > 0) {
    const problems = wrong.map((error) => ({
      file: path,
      field: null,
      line: lines.linePos(error.pos[0]).line,
      message: `not valid YAML: ${error.message}`,
      fix: fixForYaml(error.code),
    }));
    return { ...nothing, problems, lineOf };
  }
  const values = plainValues(document);
  if ('failure' in values) {
    const problem = { file: path, field: null, line: null, message: `not usable YAML: ${values.failure}` };
    return { ...nothing, problems: [{ ...problem, fix: 'write the values out instead of aliases' }], lineOf };
  }
  const task = folderForCommands(path);
  const parsed = parse(values.value, task, options);
  if (Array.isArray(parsed)) return { ...nothing, problems: located(parsed, path, lineOf), lineOf };
  const variants = new Map<string, TaskFile>();
  const faults: IssueExplanation[] = [];
  for (const name of Object.keys(parsed.variants)) {
    const variant = parseVariant(parsed, name, task, options);
    if (Array.isArray(variant)) faults.push(...variant);
    else variants.set(name, variant);
  }
  if (faults.length > 0) return { ...nothing, problems: located(faults, path, lineOf), lineOf };
  return { file: parsed, variants, problems: [], lineOf };
}

/** The folder of a task.yaml as commands take it: its path, and never a mere name, which would be an id. */
function folderForCommands(taskFile: string): string {
  const folder = resolve(dirname(taskFile));
  const path = relative(process.cwd(), folder);
  if (path === '') return '.';
  return shellWord(path.startsWith('..') ? folder : `./${path}`);
}

const nothing = { file: null, variants: new Map<string, TaskFile>() };

function parse(
  written: unknown,
  task: string,
  { toMeasure = false }: ReadTaskOptions,
): TaskFile | IssueExplanation[] {
  const value = toMeasure ? withPlaceholders(written) : written;
  const parsed = TaskFile.safeParse(value);
  if (parsed.success) return parsed.data;
  const explained = parsed.error.issues.flatMap((issue) => explainIssue(issue, value, task));
  // The figures of a script are measured together, so they are missing together.
  return [
    ...new Map(explained.map((one) => [`${one.path.map(String).join('.')}: ${one.message}`, one])).values(),
  ];
}

/** The task with the fields that its variant replaces. */
function parseVariant(
  file: TaskFile,
  name: string,
  task: string,
  options: ReadTaskOptions,
): TaskFile | IssueExplanation[] {
  const replaced = file.variants[name] ?? {};
  const fixed = ['schema', 'id', 'variants', 'sources', 'entry'].find((field) => field in replaced);
  if (fixed !== undefined) {
    const message = 'is the same for all variants';
    return [{ path: ['variants', name, fixed], message, fix: 'leave it out' }];
  }
  const whole = { ...file, suites: [], ...replaced, id: `${file.id}-${name}`, variants: {} };
  const parsed = parse(whole, task, options);
  if (!Array.isArray(parsed)) return parsed;
  return parsed.map((issue) => ({ ...issue, path: ['variants', name, ...issue.path] }));
}

function located(
  issues: readonly IssueExplanation[],
  file: string,
  lineOf: ReadTaskFile['lineOf'],
): TaskProblem[] {
  return issues
    .map(({ path: field, message, fix }) => ({
      file,
      field: field.length === 0 ? null : field.map(String).join('.'),
      line: lineOf(field),
      message,
      fix,
    }))
    .sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
}

/** Aliases can be nested into a bomb: the library counts them and throws. */
function plainValues(document: Document): { value: unknown } | { failure: string } {
  try {
    return { value: document.toJS({ maxAliasCount: 100 }) };
  } catch (error) {
    return { failure: messageOf(error) };
  }
}

function fixForYaml(code: string): string {
  if (code === 'DUPLICATE_KEY') return 'keep one of the two';
  if (code === 'TAB_AS_INDENT') return 'indent with spaces';
  return 'check indentation, colons and quotes near this line; put text with special characters in quotes';
}
