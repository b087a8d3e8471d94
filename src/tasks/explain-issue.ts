import { z } from 'zod';
import { issueInWords } from '../lib/issue-in-words.ts';
import { valueAt } from '../lib/json-values.ts';
import { nearest } from '../lib/nearest.ts';
import { TaskFile } from '../schema/index.ts';
import { explainUnmeasured } from './unmeasured.ts';

export interface IssueExplanation {
  path: PropertyKey[];
  message: string;
  fix: string;
}

/** The part of a JSON schema that helps to explain what a field should be. */
interface FieldSchema {
  type?: string | undefined;
  description?: string | undefined;
  enum?: unknown[] | undefined;
  const?: unknown;
  properties?: Record<string, FieldSchema> | undefined;
  items?: FieldSchema | undefined;
  oneOf?: FieldSchema[] | undefined;
  anyOf?: FieldSchema[] | undefined;
}
const FieldSchema: z.ZodType<FieldSchema> = z.lazy(() =>
  z.object({
    type: z.string().optional(),
    description: z.string().optional(),
    enum: z.array(z.unknown()).optional(),
    const: z.unknown().optional(),
    properties: z.record(z.string(), FieldSchema).optional(),
    items: FieldSchema.optional(),
    oneOf: z.array(FieldSchema).optional(),
    anyOf: z.array(FieldSchema).optional(),
  }),
);

/**
 * Explains in plain words what zod found, where, and how to fix it.
 * @param task the task's folder, as commands take it
 */
export function explainIssue(issue: z.core.$ZodIssue, document: unknown, task: string): IssueExplanation[] {
  const path = issue.path;
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey([...path, key]));
  if (!isPresent(document, path) && path.length > 0) return [explainUnmeasured(path, task) ?? missing(path)];
  const expected = expectation(path);
  const given = `${issueInWords(issue)} (found ${preview(valueAt(document, path))})`;
  return [{ path, message: given, fix: expected === null ? 'change the value' : `write ${expected}` }];
}

function unknownKey(path: PropertyKey[]): IssueExplanation {
  const key = String(path.at(-1));
  const known = schemasAt(path.slice(0, -1)).flatMap((schema) => Object.keys(schema.properties ?? {}));
  const near = nearest(key, known);
  const fix =
    near === null
      ? `remove it; the known keys here are ${[...new Set(known)].join(', ')}`
      : `did you mean "${near}"?`;
  return { path, message: 'unknown key', fix };
}

function missing(path: PropertyKey[]): IssueExplanation {
  const expected = expectation(path);
  return {
    path,
    message: 'missing',
    fix: `add ${path.map(String).join('.')}${expected ? `: ${expected}` : ''}`,
  };
}

/** What the schema expects at this place, in words; null if it doesn't say. */
function expectation(path: readonly PropertyKey[]): string | null {
  const schemas = schemasAt(path);
  const choices = schemas.flatMap((schema) => [
    ...(schema.enum ?? []).map((choice) => JSON.stringify(choice)),
    ...(schema.const === undefined ? [] : [constInWords(schema)]),
  ]);
  if (choices.length > 0) return `one of ${[...new Set(choices)].join(', ')}`;
  const [schema] = schemas;
  if (schema === undefined) return null;
  const type = typeInWords(schema);
  if (type === null) return schema.description ?? null;
  return schema.description === undefined ? type : `${type} (${schema.description})`;
}

function constInWords({ const: choice, description }: FieldSchema): string {
  const value = JSON.stringify(choice);
  return description === undefined ? value : `${value} (${description})`;
}

function typeInWords(schema: FieldSchema): string | null {
  if (schema.type === 'object') return `a mapping with ${Object.keys(schema.properties ?? {}).join(', ')}`;
  if (schema.type === 'array') return 'a list';
  if (schema.type === 'string') return 'a text';
  if (schema.type === undefined) return null;
  return schema.type === 'integer' ? 'a whole number' : `a ${schema.type}`;
}

/** The schema of task.yaml; zod puts a schema that has an id among the definitions. */
function rootSchema(): FieldSchema {
  const { $defs: definitions, ...root } = z.toJSONSchema(TaskFile, { io: 'input', reused: 'inline' });
  return FieldSchema.parse(definitions?.TaskFile ?? root);
}

/** All schemas that may describe the value at a path: several if a union branches. */
function schemasAt(path: readonly PropertyKey[]): FieldSchema[] {
  let current = branches(rootSchema());
  for (const key of path) {
    current = current
      .flatMap((schema) => (typeof key === 'number' ? schema.items : schema.properties?.[String(key)]) ?? [])
      .flatMap(branches);
  }
  return current;
}

function branches(schema: FieldSchema): FieldSchema[] {
  const choices = [...(schema.oneOf ?? []), ...(schema.anyOf ?? [])];
  return choices.length === 0 ? [schema] : choices.flatMap(branches);
}

function isPresent(document: unknown, path: readonly PropertyKey[]): boolean {
  return valueAt(document, path) !== undefined;
}

function preview(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
