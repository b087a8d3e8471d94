import { z } from 'zod';
import { parseShallowJson } from '../../../lib/shallow-json.ts';
import type { ModelTool, ToolCall } from '../../../schema/index.ts';

/** A value in another program's body, if it has the expected form; otherwise null. */
export function readAs<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> | null {
  const read = schema.safeParse(value);
  return read.success ? read.data : null;
}

/** May be absent. */
export const Any = z.unknown().optional();
export const Text = z.string().catch('');
export const OptionalText = z.string().nullish().catch(null);
export const OptionalNumber = z.number().nullish().catch(null);
export const List = z.array(z.unknown()).nullish().catch(null);

/** The texts in a content, which is a text or a list of parts; other parts are named. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return content == null ? '' : JSON.stringify(content);
  return content.map(partText).join('');
}

const Part = z.looseObject({ type: OptionalText, text: OptionalText });

function partText(part: unknown): string {
  if (typeof part === 'string') return part;
  const read = readAs(Part, part);
  return read?.text ?? `[${read?.type ?? 'unknown content'}]`;
}

/** Arguments that a program sends back: JSON text, or JSON. */
export function inputOf(given: unknown): ToolCall['input'] {
  if (typeof given !== 'string') return readAs(z.json(), given) ?? {};
  try {
    return z.json().parse(parseShallowJson(given));
  } catch {
    return given;
  }
}

const Choice = z.looseObject({ type: z.enum(['function', 'tool']) });

/** Whether a choice of OpenAI's or Anthropic's formats is one tool, by its name. */
export function isOneTool(choice: unknown): boolean {
  return readAs(Choice, choice) !== null;
}

/** A tool in the trace's format, which allows fewer names than some providers. */
export function toolOf(name: string, description: unknown, schema: unknown): ModelTool {
  return {
    name: name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || '_',
    description: typeof description === 'string' ? description : '',
    input_schema: readAs(z.record(z.string(), z.json()), schema) ?? {},
  };
}
