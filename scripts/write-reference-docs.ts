/**
 * Writes docs/reference/ from the schemas of src/schema and the actions of src/environment:
 * `npm run node scripts/write-reference-docs.ts`. A test fails while the pages are out of date.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { actionDefinitions, describeActions } from '../src/environment/index.ts';
import { ActionStatus, ExperimentFile, SettingsFile, TaskFile, TraceEvent } from '../src/schema/index.ts';

export const folder = join(import.meta.dirname, '../docs/reference');

/** A JSON schema, as far as the schemas of this project use them. */
const Node = z.object({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  const: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  description: z.string().optional(),
  default: z.unknown().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  exclusiveMinimum: z.number().optional(),
  required: z.array(z.string()).optional(),
  get properties() {
    return z.record(z.string(), Node).optional();
  },
  get items() {
    return Node.optional();
  },
  get additionalProperties() {
    return z.union([z.boolean(), Node]).optional();
  },
  get anyOf() {
    return z.array(Node).optional();
  },
  get oneOf() {
    return z.array(Node).optional();
  },
  get allOf() {
    return z.array(Node).optional();
  },
  get definitions() {
    return z.record(z.string(), Node).optional();
  },
});
type Node = z.infer<typeof Node>;

const note = '<!-- generated: npm run node -- scripts/write-reference-docs.ts -->';

/** The pages, by file name. */
export function pages(): Map<string, string> {
  return new Map([
    [
      'experiment-file.md',
      filePage(ExperimentFile, {
        title: 'Experiment file',
        intro:
          'The keys of the YAML file that `mlab run FILE.yaml` takes. Most are also flags of `mlab run`; flags win. [The command line](../command-line.md#experiment-files) shows an example and how your editor checks the keys.',
      }),
    ],
    [
      'settings-file.md',
      filePage(SettingsFile, {
        title: 'mlab.config.yaml',
        intro:
          'The settings that every command in a folder starts from. [The command line](../command-line.md#settings-of-a-folder) shows an example and says which of several settings counts.',
      }),
    ],
    [
      'task-file.md',
      filePage(TaskFile, {
        title: 'task.yaml',
        intro:
          'The keys of the file that describes a task. [Write a task](../how-to/write-a-task.md#taskyaml) explains the most important ones and shows a whole task.',
      }),
    ],
    ['events.md', eventPage()],
    ['actions.md', actionPage()],
  ]);
}

function filePage(schema: z.ZodType, { title, intro }: { title: string; intro: string }): string {
  const { definitions = {}, ...root } = jsonSchema(schema, 'input');
  const file = definitions[nameOf(root) ?? ''] ?? root;
  return page(title, intro, new Writer({ definitions }).object(file, ''));
}

function eventPage(): string {
  const root = jsonSchema(TraceEvent, 'output');
  const writer = new Writer(root);
  const [envelope, payload] = root.allOf ?? [];
  if (envelope === undefined || payload?.oneOf === undefined)
    throw new Error('TraceEvent is not an envelope and kinds');
  const kinds = payload.oneOf.flatMap((kind) => {
    const { kind: name, ...properties } = kind.properties ?? {};
    return writer.section({ ...kind, properties }, String(name?.const));
  });
  return page(
    'Events of a trace',
    'The kinds of events in `trace.jsonl`, and their fields. [What a run leaves on disk](../trace-format.md) shows an example of each, and explains how a trace is written and read.',
    ['## Every event', ...writer.object(envelope, ''), ...kinds, ...writer.definitions()],
  );
}

const statuses: Record<ActionStatus, string> = {
  ok: 'It was done.',
  failed: 'It was done, but the script or command ended with an error, or a file does not exist.',
  invalid: 'There is no such action, or an argument is missing or wrong. The observation says which.',
  refused:
    'The path is outside the workspace or read-only, or somebody who [approves actions](../how-to/branch-and-approve.md) refused it.',
  timed_out: 'It reached a limit on time.',
  out_of_memory: 'It reached the limit on memory.',
  workspace_full: 'It reached the limit on the size of the workspace.',
  closed: 'The run is over.',
  error: 'mlab itself failed.',
};

const availability = {
  model: 'Only in runs with a language model: `mlab run --model …`.',
  person: 'Only in runs with a person to ask: `mlab run --interactive`.',
};

function actionPage(): string {
  const writer = new Writer({});
  const actions = describeActions().flatMap(({ name, description, input_schema }) => {
    const { needs, returns } = actionDefinitions.get(name) ?? { returns: '' };
    return [
      `## ${name}`,
      description,
      ...(needs === undefined ? [] : [availability[needs]]),
      ...writer.object(Node.parse(input_schema), ''),
      `**Observation**: ${returns}`,
    ];
  });
  const rows = ActionStatus.options.map((status) => `| ${code(status)} | ${statuses[status]} |`);
  return page(
    'Actions',
    'What an agent can do in a run. Names and arguments are the same for agents in every language: `environment.step({ name: \'Read File\', args: { file_name: \'train.py\' } })` in [TypeScript](../how-to/write-an-agent.md), `environment.step("Read File", file_name="train.py")` in [Python](../how-to/write-an-agent-in-python.md). Paths are relative to the workspace. `environment.actions` has the actions of the run.',
    [
      '## Results',
      'Each action costs a step and returns a result with a `status` and an `observation`, a text of at most 20,000 characters; a longer one is cut in the middle.',
      ['| status | |', '|---|---|', ...rows].join('\n'),
      ...actions,
    ],
  );
}

function page(title: string, intro: string, sections: string[]): string {
  return `${[`# ${title}`, note, intro, ...sections].join('\n\n')}\n`;
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Node {
  return Node.parse(z.toJSONSchema(schema, { io, target: 'draft-7' }));
}

/** Writes objects as tables, each with its inner objects below. Definitions with objects have a section at the end. */
class Writer {
  readonly #definitions: ReadonlyMap<string, Node>;

  constructor({ definitions = {} }: Node) {
    this.#definitions = new Map(Object.entries(definitions));
  }

  /** A heading, what the object is, its fields, and the objects inside it. */
  section(node: Node, path: string): string[] {
    const variants = node.anyOf ?? node.oneOf ?? [node];
    const level = '#'.repeat(Math.min(path.split('.').length + 1, 4));
    return [
      `${level} ${path}`,
      ...(node.description === undefined ? [] : [node.description]),
      ...variants.flatMap((variant, index) => [
        ...this.#introduction(variant, variants.length > 1, index),
        ...this.#table(variant, path),
      ]),
      ...variants.flatMap((variant) => this.#inside(variant, path)),
    ];
  }

  /** @param path of the object; empty for a whole file */
  object(node: Node, path: string): string[] {
    return [...this.#table(node, path), ...this.#inside(node, path)];
  }

  #table({ properties = {}, required = [] }: Node, path: string): string[] {
    const rows = Object.entries(properties).map(([name, field]) => {
      const type = this.#type(field, inside(path, name));
      const cells = [code(name), type, initial(field, required.includes(name)), field.description ?? ''];
      return `| ${cells.map(escaped).join(' | ')} |`;
    });
    return rows.length === 0 ? [] : [['| key | type | default | |', '|---|---|---|---|', ...rows].join('\n')];
  }

  #inside({ properties = {} }: Node, path: string): string[] {
    return Object.entries(properties).flatMap(([name, field]) => {
      const objects = this.#objectsIn(field);
      return objects.length === 0 ? [] : this.section({ anyOf: objects }, inside(path, name));
    });
  }

  definitions(): string[] {
    return [...this.#definitions].flatMap(([name, node]) => (isTable(node) ? this.section(node, name) : []));
  }

  /** The text above one of several possible objects. */
  #introduction(variant: Node, isOneOfSeveral: boolean, index: number): string[] {
    const name = nameOf(variant);
    if (name !== undefined) return [`[${name}](#${slug(name)})`];
    const fixed = Object.entries(variant.properties ?? {}).find(([, field]) => field.const !== undefined);
    if (fixed !== undefined && isOneOfSeveral) return [`With ${code(`${fixed[0]}: ${fixed[1].const}`)}:`];
    return index === 0 ? [] : ['or'];
  }

  /** The objects that a field contains directly, in a list, as values or as one of several. */
  #objectsIn(field: Node): Node[] {
    if (nameOf(field) !== undefined) return [];
    if (field.properties !== undefined) return [field];
    const { anyOf = [], oneOf = [], items, additionalProperties: values } = field;
    const parts = [...anyOf, ...oneOf, items, typeof values === 'object' ? values : undefined];
    return parts.flatMap((part) => (part === undefined ? [] : this.#objectsIn(part)));
  }

  #type(field: Node, path: string): string {
    const name = nameOf(field);
    const definition = name === undefined ? undefined : this.#definitions.get(name);
    if (name !== undefined && definition !== undefined)
      return isTable(definition) ? `[${name}](#${slug(name)})` : this.#type(definition, path);
    const { const: value, enum: values, anyOf, oneOf, items, additionalProperties } = field;
    if (value !== undefined) return code(value);
    if (values !== undefined) return values.map(code).join(', ');
    const variants = anyOf ?? oneOf;
    if (variants !== undefined)
      return [...new Set(variants.map((one) => this.#type(one, path)))].join(' or ');
    if (field.properties !== undefined) return `[object](#${slug(path)})`;
    if (items !== undefined) return `list of ${this.#type(items, path)}`;
    if (typeof additionalProperties === 'object') return `map of ${this.#type(additionalProperties, path)}`;
    return `${[field.type ?? 'any'].flat().join(' or ')}${bounds(field)}`;
  }
}

function inside(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

/** Whether a definition has fields to show, rather than being a text or a number. */
function isTable({ properties, anyOf, oneOf }: Node): boolean {
  return [...(anyOf ?? []), ...(oneOf ?? [])].some(isTable) || properties !== undefined;
}

/** The definition that a node refers to; a node with its own description refers to it in `allOf`. */
function nameOf({ $ref, allOf }: Node): string | undefined {
  return ($ref ?? allOf?.[0]?.$ref)?.replace('#/definitions/', '');
}

function bounds({ minimum, maximum, exclusiveMinimum }: Node): string {
  const isSafe = (bound: number | undefined) => bound !== undefined && Math.abs(bound) < 1e12;
  return [
    ...(isSafe(minimum) ? [` ≥ ${minimum}`] : []),
    ...(isSafe(exclusiveMinimum) ? [` > ${exclusiveMinimum}`] : []),
    ...(isSafe(maximum) ? [` ≤ ${maximum}`] : []),
  ].join(',');
}

function initial(field: Node, isRequired: boolean): string {
  const { default: value } = field;
  if (value === undefined) return isRequired ? 'required' : '';
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  return isEmpty || value === '' ? '' : code(value);
}

function code(value: unknown): string {
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

/** What a link to a heading ends with. */
function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of pages()) writeFileSync(join(folder, name), text);
}
