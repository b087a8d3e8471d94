import { z } from 'zod';
import { ModelTool } from '../schema/index.ts';

/** More than this many lists are hardly in use at once. */
const maxLists = 16;
const lists = new Map<string, ModelTool[]>();
const texts = new WeakMap<ModelTool[], string>();

/**
 * Tools in the form of their schema. The same object for all who give equal ones: hundreds of runs of a process offer
 * the same with each call, and a list has hundreds of objects. Nobody may change it.
 * @throws z.ZodError for what are no tools; TypeError for what is no JSON
 */
export function sharedTools(given: readonly ModelTool[]): ModelTool[] {
  const text = JSON.stringify(given);
  const shared = lists.get(text) ?? structuredClone(z.array(ModelTool).parse(given));
  lists.delete(text);
  lists.set(text, shared);
  const [oldest] = lists.keys();
  if (lists.size > maxLists && oldest !== undefined) lists.delete(oldest);
  return shared;
}

/** As JSON; made once for each list. */
export function toolsText(tools: ModelTool[]): string {
  const text = texts.get(tools) ?? JSON.stringify(tools);
  texts.set(tools, text);
  return text;
}
