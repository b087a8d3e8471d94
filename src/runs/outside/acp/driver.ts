import type { AgentClaims } from '../../../schema/index.ts';
import type { ProgramEnd } from '../how-it-ended.ts';
import type { Witness } from '../program-turns.ts';
import { Tail } from '../tail.ts';
import { type AcpTalk, converse } from './converse.ts';
import { MessageStream } from './message-stream.ts';
import { SessionUpdates } from './session-updates.ts';

/** Leads one agent by the Agent Client Protocol, and keeps what it reports about itself. */
export class AcpDriver implements Witness {
  readonly printed: Tail;
  readonly #messages: MessageStream;
  readonly #updates = new SessionUpdates();
  #session: string | null = null;

  /** @param maxPrinted bytes that are kept of its output besides messages */
  constructor(maxPrinted: number) {
    const printed = new Tail(maxPrinted);
    this.printed = printed;
    this.#messages = new MessageStream({
      notified: (method, params) => {
        if (method === 'session/update') this.#updates.add(params);
      },
      printed: (text) => printed.add(Buffer.from(text)),
    });
  }

  /** Adds a piece of its output. */
  add(chunk: Buffer): void {
    this.#messages.add(chunk);
  }

  answered(): void {
    this.#messages.renew();
  }

  takeNotes(): Record<string, string> | null {
    return this.#updates.take();
  }

  /** What it reported about its session; null if it had none. */
  get claims(): AgentClaims | null {
    const { cost } = this.#updates;
    return this.#session === null ? null : { session: this.#session, cost, tokens: null, subagents: [] };
  }

  /** Leads it until it is done or the run is over; its process has ended then. */
  async lead(talk: Omit<AcpTalk, 'messages' | 'updates'>): Promise<ProgramEnd> {
    const said = await converse({ ...talk, messages: this.#messages, updates: this.#updates });
    this.#session = said.session?.slice(0, 200) ?? null;
    return { process: await talk.process.ended, said };
  }
}
