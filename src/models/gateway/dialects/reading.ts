import { z } from 'zod';
import { parseShallowJson } from '../../../lib/shallow-json.ts';
import type { ModelTool, ToolCall } from '../../../schema/index.ts';

/** What stands somewhere in a body of another program, where it has the form that is known; else null. */
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

/** The texts of a content that is a text or a list of parts; what is no text is named. */
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

/** Arguments as a program sends them back: JSON text, or JSON. */
export function inputOf(given: unknown): ToolCall['input'] {
  if (typeof given !== 'string') return readAs(z.json(), given) ?? {};
  try {
    return z.json().parse(parseShallowJson(given));
  } catch {
    return given;
  }
}

/** A tool as the trace has it, whose names are narrower than some providers'. */
export function toolOf(name: string, description: unknown, schema: unknown): ModelTool {
  return {
    name: name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || '_',
    description: typeof description === 'string' ? description : '',
    input_schema: readAs(z.record(z.string(), z.json()), schema) ?? {},
  };
}
