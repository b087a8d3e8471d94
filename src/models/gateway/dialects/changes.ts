import { elementsOf, type JsonEdit, type JsonMember, membersOf } from '../json-edits.ts';
import type { PreparedCall, RequestText, Target } from './dialect.ts';
import { storedIn, storedReason } from './stored-content.ts';

export interface ChangeRules {
  /** Members that the gateway can't meter or record, with the reason; null and false are allowed. */
  refused: Readonly<Record<string, string>>;
  /** The member with the conversation, which may name what is stored at the provider. */
  conversation?: 'messages' | 'input';
  /** Members that grant tools run by the provider. */
  serverMembers: readonly string[];
  /**
   * The part of a tool that the program itself runs: `all`, `nothing`, or the text of that part.
   * @param text the tool as it is in the request
   */
  clientPart(tool: unknown, text: string): 'all' | 'nothing' | { text: string };
  /** The model's name in bodies of this dialect; default: its name. */
  bodyName?: (model: string) => string;
}

/** These options make a call cost more than the model's price. */
const expensive: readonly { name: string; plain: readonly unknown[] }[] = [
  { name: 'service_tier', plain: ['auto', 'default', 'standard', 'standard_only', 'flex', null] },
  { name: 'speed', plain: ['standard', null] },
];

const routed = 'where a request goes is not for the program to choose';

/** Members by which servers in front of several providers choose one. */
const routing: Readonly<Record<string, string>> = {
  ...{ api_base: routed, base_url: routed, api_key: routed, fallbacks: routed },
  ...{ custom_llm_provider: routed, user_config: routed, extra_headers: routed },
};

/** The changes that all dialects need: sets the model's name, and removes what the run does not grant. */
export function changesOf(
  { text, body }: RequestText,
  { model, serverTools }: Target,
  rules: ChangeRules,
): (PreparedCall & { members: Map<string, JsonMember> }) | { problem: string } {
  const { members, isAmbiguous } = membersOf(text);
  if (isAmbiguous) return { problem: 'The body has two members with the same name.' };
  // Some servers take 1 for true: the reply would be a stream that nobody asked to report its usage.
  if (!['boolean', 'undefined'].includes(typeof (body.stream ?? undefined)))
    return { problem: 'stream is true or false.' };
  const isThere = (name: string) => body[name] !== undefined && body[name] !== null && body[name] !== false;
  for (const [name, reason] of Object.entries({ ...routing, ...rules.refused }))
    if (isThere(name)) return { problem: `${name} can't be used here: ${reason}.` };
  const stored = rules.conversation === undefined ? null : storedIn(body[rules.conversation]);
  if (stored !== null) return { problem: `${stored} can't be used here: ${storedReason}.` };
  const edits: JsonEdit[] = [];
  const named = members.get('model');
  const name = rules.bodyName?.(model) ?? model;
  if (named !== undefined && body.model !== name) edits.push({ ...named.value, text: JSON.stringify(name) });
  // Some providers choose a model if none is named, and it may be a more expensive one. In dialects that name the model
  // in the address, the body names none.
  if (named === undefined && rules.bodyName === undefined) edits.push(firstMember(text, members.size, name));
  const left: string[] = expensive
    .filter(({ name, plain }) => members.has(name) && !plain.includes(body[name]))
    .map(({ name }) => name);
  if (!serverTools) {
    left.push(...rules.serverMembers.filter((name) => members.has(name)));
    const tools = toolsWithout(text, body.tools, members.get('tools'), rules);
    if (tools === 'none')
      return { problem: 'Tools that the provider runs by itself are not part of this run.' };
    if (tools !== null) edits.push(tools);
  }
  return { edits: [...edits, ...removals(members, left)], hidesUsage: false, members };
}

/**
 * The edit of a list of tools that keeps only what the program itself runs; null: no edit is needed. `none`: nothing is
 * left.
 */
export function toolsWithout(
  text: string,
  tools: unknown,
  member: JsonMember | undefined,
  { clientPart }: Pick<ChangeRules, 'clientPart'>,
): JsonEdit | 'none' | null {
  // Google also accepts a single tool in place of a list.
  const given = [tools ?? []].flat();
  if (given.length === 0 || member === undefined) return null;
  const spans = Array.isArray(tools) ? elementsOf(text, member.value.from) : [member.value];
  const texts = spans.map(({ from, to }) => text.slice(from, to));
  const parts = texts.map((text, place) => clientPart(given[place], text));
  if (parts.every((part) => part === 'all')) return null;
  const kept = parts.flatMap((part, place) =>
    part === 'nothing' ? [] : [part === 'all' ? (texts[place] ?? '') : part.text],
  );
  return kept.length === 0 ? 'none' : { ...member.value, text: `[${kept.join(',')}]` };
}

function firstMember(text: string, others: number, model: string): JsonEdit {
  const start = text.indexOf('{') + 1;
  return { from: start, to: start, text: `"model":${JSON.stringify(model)}${others === 0 ? '' : ','}` };
}

/** Removes members from an object, each with one of the commas around it. */
function removals(members: ReadonlyMap<string, JsonMember>, names: readonly string[]): JsonEdit[] {
  const inOrder = [...members].map(([name, member]) => ({ ...member, isLeft: names.includes(name) }));
  const lastKept = inOrder.findLastIndex(({ isLeft }) => !isLeft);
  const edits = inOrder.slice(0, Math.max(0, lastKept)).flatMap(({ isLeft, from }, place) => {
    const next = inOrder[place + 1];
    return isLeft && next !== undefined ? [{ from, to: next.from, text: '' }] : [];
  });
  const [end, last] = [inOrder[lastKept], inOrder.at(-1)];
  if (end !== undefined && last !== undefined && end !== last)
    edits.push({ from: end.to, to: last.to, text: '' });
  return edits;
}
