import { z } from 'zod';
import { nearest } from '../lib/nearest.ts';
import type { ActionStatus, UndoEntry } from '../schema/index.ts';
import type { ActionContext } from './action-context.ts';
import type { ActionDescription } from './environment.ts';
import type { RequestedAction } from './requested-action.ts';

const maxUnknown = 10;

/** The outcome of an action, before it is traced. */
export interface ActionOutcome {
  status: ActionStatus;
  observation: string;
  exitCode?: number | null;
  /** Files that Undo Edit Script can restore, newest last. */
  undo?: UndoEntry[];
  /** Files whose newest undo entry this action used. */
  undone?: string[];
  /** Set by Final Answer. */
  finalAnswer?: string;
  /** A language model wrote the observation, or parts of it. */
  byModel?: boolean;
}

/** One action: its name and arguments are part of the benchmark's interface. */
export interface ActionDefinition {
  name: string;
  description: string;
  /** What the observation contains: for readers of the docs only, since models get `description`. */
  returns: string;
  /** An object schema whose fields have descriptions, which agents see. */
  schema: z.ZodObject;
  /** Offered only if there is a language model, or a person to ask. */
  needs?: 'model' | 'person' | undefined;
  run(context: ActionContext, args: Readonly<Record<string, unknown>>): Promise<ActionOutcome>;
}

/** Defines an action; the types of its `run`'s arguments follow from its schema. */
export function defineAction<Shape extends z.ZodRawShape>(definition: {
  name: string;
  description: string;
  returns: string;
  args: Shape;
  needs?: 'model' | 'person';
  run(context: ActionContext, args: z.infer<z.ZodObject<Shape>>): ActionOutcome | Promise<ActionOutcome>;
}): ActionDefinition {
  const schema = z.object(definition.args);
  return {
    name: definition.name,
    description: definition.description,
    returns: definition.returns,
    schema: schema as unknown as z.ZodObject,
    needs: definition.needs,
    run: async (context, args) => definition.run(context, schema.parse(args)),
  };
}

/** A line number: models often write it as a string. */
export const lineNumber = z
  .union([z.int().min(1), z.string().regex(/^\s*\d{1,9}\s*$/, 'a line number from 1')])
  .transform(Number)
  .pipe(z.int().min(1));

/** Making the JSON schemas takes some milliseconds, and they are the same for every run. */
const described = new WeakMap<ActionDefinition, ActionDescription>();

export function describeAction(action: ActionDefinition): ActionDescription {
  const known = described.get(action);
  if (known !== undefined) return known;
  const description = makeDescription(action);
  described.set(action, description);
  return description;
}

function makeDescription(action: ActionDefinition): ActionDescription {
  // Models do not need the dialect, and some providers refuse it.
  const { $schema: _, ...schema } = z.toJSONSchema(action.schema, { io: 'input' });
  return {
    name: action.name,
    description: action.description,
    arguments: Object.entries(action.schema.shape).map(([name, schema]) => ({
      name,
      description: (schema as z.ZodType).description ?? '',
      ...((schema as z.ZodType).safeParse(undefined).success ? { optional: true } : {}),
    })),
    input_schema: z.record(z.string(), z.json()).parse(schema),
  };
}

export type Checked =
  | { ok: true; definition: ActionDefinition; args: Readonly<Record<string, unknown>> }
  | { ok: false; observation: string };

/** Finds the action and checks its arguments; the message says what is wrong and what is expected. */
export function checkAction(
  action: RequestedAction,
  definitions: ReadonlyMap<string, ActionDefinition>,
): Checked {
  const definition = definitions.get(action.name);
  if (definition === undefined)
    return { ok: false, observation: unknownAction(action.name, [...definitions.keys()]) };
  if (action.problem !== null) return refusal(definition, [action.problem]);
  const parsed = definition.schema.safeParse(action.args);
  const known = Object.keys(definition.schema.shape);
  const given = Object.keys(action.args);
  const unknown = given.filter((name) => !known.includes(name));
  if (parsed.success && unknown.length === 0) return { ok: true, definition, args: parsed.data };
  const wrong = parsed.success ? [] : parsed.error.issues.map((issue) => problemOf(issue, given));
  const shown = unknown.slice(0, maxUnknown).map((name) => unknownArgument(name, known));
  const more = unknown.length > maxUnknown ? [`and ${unknown.length - maxUnknown} more`] : [];
  return refusal(definition, [...wrong, ...shown, ...more]);
}

function refusal(definition: ActionDefinition, problems: readonly string[]): Checked {
  const shown = problems.map((problem) => `- ${problem}`);
  return {
    ok: false,
    observation: `${definition.name} was not executed:\n${shown.join('\n')}\n${usage(definition)}`,
  };
}

function unknownAction(name: string, names: string[]): string {
  const meant = nearest(name, names);
  const hint = meant === null ? '' : ` Did you mean "${meant}"?`;
  return `There is no action "${shortened(name)}".${hint} The actions are: ${names.join(', ')}.`;
}

function unknownArgument(name: string, known: string[]): string {
  const meant = nearest(name, known);
  return `"${shortened(name)}" is not an argument of it${meant === null ? '' : `; did you mean "${meant}"?`}`;
}

function problemOf(issue: z.core.$ZodIssue, given: string[]): string {
  const name = String(issue.path[0] ?? '');
  if (!given.includes(name)) return `the argument "${name}" is missing`;
  return `the argument "${name}": ${issue.message}`;
}

/** How to call an action, as one line of JSON with a description of each argument. */
export function usage(definition: ActionDefinition): string {
  const { arguments: args } = describeAction(definition);
  if (args.length === 0) return `Usage: ${definition.name} takes no arguments: {}`;
  const example = Object.fromEntries(args.map(({ name, description }) => [name, `<${description}>`]));
  return `Usage: ${definition.name} with arguments ${JSON.stringify(example)}`;
}

function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
