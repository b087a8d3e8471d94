import type { ModelTool } from '../schema/index.ts';

type Tools = ModelTool[];

/** More than this many lists are hardly in use at once. */
const maxLists = 16;
const lists = new Map<string, Tools>();
const texts = new WeakMap<Tools, string>();

/**
 * A copy of these tools, the same for all who ask for equal ones: hundreds of runs of a process offer the same, and each
 * list has hundreds of objects. Nobody may change it.
 */
export function sharedTools(tools: Tools): Tools {
  const text = JSON.stringify(tools);
  const shared = lists.get(text) ?? structuredClone(tools);
  lists.delete(text);
  lists.set(text, shared);
  texts.set(shared, text);
  const [oldest] = lists.keys();
  if (lists.size > maxLists && oldest !== undefined) lists.delete(oldest);
  return shared;
}

/** As JSON; made once for each list. */
export function toolsText(tools: Tools): string {
  const text = texts.get(tools) ?? JSON.stringify(tools);
  texts.set(tools, text);
  return text;
}
