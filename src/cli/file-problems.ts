import { z } from 'zod';
import { issueInWords } from '../lib/issue-in-words.ts';
import { valueAt } from '../lib/json-values.ts';
import { editDistance, nearest } from '../lib/nearest.ts';

export interface ReadFile {
  schema: z.ZodType;
  /** What was read. */
  value: unknown;
  /** Line of a key in the file; null if it is not from the file. */
  lineOf: (path: readonly PropertyKey[]) => number | null;
}

/** What is wrong in a file of settings: for each problem a line with its place, what is expected, and what that means. */
export function problemLines({ issues }: z.ZodError, file: ReadFile): string[] {
  const problems = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path: [...issue.path, key], problem: unknown(issue.path, key, file) }))
      : [{ path: issue.path, problem: explained(issue, file) }],
  );
  return problems
    .map(({ path, problem }) => ({ path, problem, line: file.lineOf(path) }))
    .toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0))
    .map(({ path, problem, line }) => {
      const where = [
        ...(line === null ? [] : [`line ${line}`]),
        ...(path.length === 0 ? [] : [path.join('.')]),
      ];
      return `  ${[...where, problem].join(': ')}`;
    });
}

function explained(issue: z.core.$ZodIssue, { schema, value }: ReadFile): string {
  const found = valueAt(value, issue.path);
  const isMissing = found === undefined && issue.path.length > 0;
  const problem = isMissing ? 'missing' : `${issueInWords(issue)}${shown(issue, found)}`;
  const meaning = meaningAt(schema, issue.path);
  return meaning === null ? problem : `${problem} (${meaning})`;
}

/** Texts in other places may be addresses with passwords, or keys. */
function shown({ code }: z.core.$ZodIssue, found: unknown): string {
  if (!['invalid_type', 'invalid_value', 'too_small', 'too_big'].includes(code)) return '';
  if (typeof found === 'object' && found !== null) return '';
  const text = JSON.stringify(found) ?? '';
  return text.length > 40 ? '' : `, found ${text}`;
}

function unknown(path: readonly PropertyKey[], key: string, { schema }: ReadFile): string {
  const known = keysOf(schemasAt(schema, path).at(-1));
  const inner = path.length > 0 ? [] : known.flatMap((name) => innerKeys(schema, name));
  const similar = nearest(key, known);
  const isTypo = similar !== null && editDistance(key, similar) === 1;
  const meant = isTypo ? similar : (inner.find((name) => name.endsWith(`.${key}`)) ?? similar);
  if (meant !== null) return `unknown key; did you mean "${meant}"?`;
  return path.length === 0 || known.length === 0
    ? 'unknown key'
    : `unknown key; the keys here are ${known.join(', ')}`;
}

function innerKeys(schema: z.ZodType, name: string): string[] {
  return keysOf(schemasAt(schema, [name]).at(-1)).map((key) => `${name}.${key}`);
}

/** The description of the innermost key on a path that has one. */
function meaningAt(schema: z.ZodType, path: readonly PropertyKey[]): string | null {
  const schemas = schemasAt(schema, path);
  for (let depth = schemas.length - 1; depth > 0; depth -= 1) {
    const description = descriptionOf(schemas[depth]);
    if (description !== null) return `${String(path[depth - 1])}: ${description}`;
  }
  return null;
}

/** The schemas of a file and of the keys on a path, as far as they are known. */
function schemasAt(root: z.ZodType, path: readonly PropertyKey[]): unknown[] {
  const found: unknown[] = [root];
  for (const key of path) {
    const next = childOf(found.at(-1), key);
    if (next === undefined) break;
    found.push(next);
  }
  return found;
}

function childOf(schema: unknown, key: PropertyKey): unknown {
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodObject)
    return Object.hasOwn(inner.shape, key) ? inner.shape[String(key)] : undefined;
  if (inner instanceof z.ZodRecord) return inner.valueType;
  if (inner instanceof z.ZodArray) return inner.element;
  if (!(inner instanceof z.ZodUnion)) return undefined;
  return inner.options.map((option) => childOf(option, key)).find((child) => child !== undefined);
}

function keysOf(schema: unknown): string[] {
  const inner = unwrapped(schema);
  return inner instanceof z.ZodObject ? Object.keys(inner.shape) : [];
}

function descriptionOf(schema: unknown): string | null {
  if (schema instanceof z.ZodType && schema.description !== undefined) return schema.description;
  return isWrapper(schema) ? descriptionOf(schema.unwrap()) : null;
}

function unwrapped(schema: unknown): unknown {
  return isWrapper(schema) ? unwrapped(schema.unwrap()) : schema;
}

function isWrapper(schema: unknown): schema is z.ZodOptional | z.ZodDefault | z.ZodNullable {
  return [z.ZodOptional, z.ZodDefault, z.ZodNullable].some((kind) => schema instanceof kind);
}
