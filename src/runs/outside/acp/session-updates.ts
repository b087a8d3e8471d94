import { z } from 'zod';

/** What is kept of each entry of a turn. */
const maxKept = 32_000;
const mostOfOne = 2_000;
/** The number of tool calls whose titles are remembered. */
const maxCalls = 1_000;

const Words = z.object({ content: z.object({ type: z.literal('text'), text: z.string() }) });
const ToolCall = z.object({
  toolCallId: z.string(),
  title: z.string().nullish(),
  kind: z.string().nullish(),
  status: z.string().nullish(),
  rawInput: z.json().optional(),
});
const Plan = z.object({ entries: z.array(z.object({ content: z.string(), status: z.string() })) });
const Usage = z.object({ cost: z.object({ amount: z.number().min(0), currency: z.literal('USD') }) });
const Notification = z.object({ update: z.looseObject({ sessionUpdate: z.string() }) });

/** The entries of a note that distinguish the agent's own words from what the gateway saw. */
const entryOf: Readonly<Record<string, string>> = {
  agent_thought_chunk: 'Claimed thought',
  agent_message_chunk: 'Claimed words',
};

/**
 * What an agent reports about its session while it works. This is evidence, kept beside what the gateway saw. Updates
 * in another format than the protocol's are ignored.
 */
export class SessionUpdates {
  #entries = new Map<string, string>();
  #cost: number | null = null;
  readonly #titles = new Map<string, string>();

  /** The cost of its session so far, in US dollars, as it reports it. */
  get cost(): number | null {
    return this.#cost;
  }

  add(params: unknown): void {
    const notification = Notification.safeParse(params);
    if (!notification.success) return;
    const { update } = notification.data;
    switch (update.sessionUpdate) {
      case 'agent_thought_chunk':
      case 'agent_message_chunk': {
        const words = Words.safeParse(update);
        if (words.success) this.#keep(entryOf[update.sessionUpdate] ?? '', words.data.content.text);
        break;
      }
      case 'tool_call':
      case 'tool_call_update': {
        const call = ToolCall.safeParse(update);
        if (call.success) this.#keep('Claimed tool calls', `${this.#callLine(call.data)}\n`);
        break;
      }
      case 'plan': {
        const plan = Plan.safeParse(update);
        if (!plan.success) break;
        const lines = plan.data.entries.map(({ content, status }) => `${status}: ${content}`);
        this.#entries.delete('Claimed plan');
        this.#keep('Claimed plan', lines.join('\n'));
        break;
      }
      case 'usage_update': {
        const usage = Usage.safeParse(update);
        if (usage.success) this.#cost = usage.data.cost.amount;
      }
    }
  }

  /**
   * Adds a request for a permission.
   * @param answered the answer that it got
   */
  permission(asked: string, answered: string): void {
    this.#keep('Permissions', `${asked.slice(0, mostOfOne)}: ${answered}\n`);
  }

  /** What was reported since the last call; null if nothing was. */
  take(): Record<string, string> | null {
    if (this.#entries.size === 0) return null;
    const entries = Object.fromEntries([...this.#entries].map(([name, text]) => [name, text.toWellFormed()]));
    this.#entries = new Map();
    return entries;
  }

  #callLine({ toolCallId: id, title, kind, status, rawInput }: z.infer<typeof ToolCall>): string {
    const known = this.#titles.get(id);
    const name = (title ?? known ?? id).slice(0, mostOfOne);
    if (known === undefined && this.#titles.size < maxCalls) this.#titles.set(id, name);
    const input = rawInput === undefined ? '' : ` ${JSON.stringify(rawInput).slice(0, mostOfOne)}`;
    const about = [kind, status].filter((word) => typeof word === 'string');
    return `${name}${about.length === 0 ? '' : ` (${about.join(', ').slice(0, 100)})`}${input}`;
  }

  #keep(name: string, text: string): void {
    if (text === '') return;
    const kept = this.#entries.get(name) ?? '';
    const room = maxKept - kept.length;
    if (room > 0) this.#entries.set(name, kept + text.slice(0, room));
  }
}
