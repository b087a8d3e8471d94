import { actionDefinitions } from '../../../environment/index.ts';
import type { KnownAction } from './known-action.ts';

/**
 * TEMPORARY: actions of the benchmark that the environment does not have yet, with their arguments. Delete this list,
 * and its use below, once they are there.
 */
const comingActions: Readonly<Record<string, readonly string[]>> = {
  'Understand File': ['file_name', 'things_to_look_for'],
  'Edit Script (AI)': ['script_name', 'edit_instruction', 'save_name'],
  'Edit Script Segment (AI)': [
    ...['script_name', 'start_line_number', 'end_line_number'],
    ...['edit_instruction', 'save_name'],
  ],
  Reflection: ['things_to_reflect_on'],
  'Append Summary to Research Log': ['content'],
  'Retrieval from Research Log': ['current_plan'],
  'Request Help': ['request'],
};

/** All actions that recorded replies may ask for; the names of their arguments describe them. */
export function recordedActions(): KnownAction[] {
  const known = new Map<string, readonly string[]>(Object.entries(comingActions));
  for (const { name, schema } of actionDefinitions.values()) known.set(name, Object.keys(schema.shape));
  return [...known].map(([name, argumentNames]) => ({
    name,
    description: name,
    arguments: argumentNames.map((argument) => ({ name: argument, description: argument })),
  }));
}

/** The format that the paper's agent asks for. */
export const recordedFormat = {
  entries: ['Reflection', 'Research Plan and Status', 'Fact Check', 'Thought'],
};
