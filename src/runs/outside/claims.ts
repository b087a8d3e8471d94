import type { Program } from '../../agents/index.ts';
import { parseShallowJson } from '../../lib/shallow-json.ts';
import type { AgentClaims } from '../../schema/index.ts';

/** In characters. A longer line is a tool's output, or a flood. */
const longestLine = 2 ** 20;
const maxSubagents = 100;
const mostOfName = 200;

/** Reads what a program reports about itself from its log, which has one JSON object per line. */
export class ClaimsReader {
  readonly #claimOf: Program['claim'];
  #line = '';
  #isTooLong = false;
  #claims: AgentClaims | null = null;

  constructor({ claim }: Program) {
    this.#claimOf = claim;
  }

  /** Null if it reported nothing. */
  get claims(): AgentClaims | null {
    return this.#claims;
  }

  add(chunk: Buffer): void {
    if (this.#claimOf === undefined) return;
    const [first = '', ...rest] = chunk.toString('latin1').split('\n');
    this.#append(first);
    for (const next of rest) {
      if (!this.#isTooLong) this.#read(this.#line);
      this.#line = '';
      this.#isTooLong = false;
      this.#append(next);
    }
  }

  #append(piece: string): void {
    if (this.#line.length + piece.length > longestLine) this.#isTooLong = true;
    this.#line = this.#isTooLong ? '' : this.#line + piece;
  }

  #read(line: string): void {
    if (!line.startsWith('{')) return;
    try {
      const text = Buffer.from(line, 'latin1').toString('utf8').toWellFormed();
      const claim = this.#claimOf?.(parseShallowJson(text)) ?? null;
      if (claim === null) return;
      const { session, cost, tokens, subagent } = claim;
      const before = this.#claims ?? { session: null, cost: null, tokens: null, subagents: [] };
      const subagents = subagent === undefined ? [] : [subagent.slice(0, mostOfName)];
      this.#claims = {
        session: session?.slice(0, mostOfName) ?? before.session,
        cost: sum(before.cost, cost),
        tokens: sum(before.tokens, tokens),
        subagents: [...before.subagents, ...subagents].slice(0, maxSubagents),
      };
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
}

function sum(before: number | null, more: number | undefined): number | null {
  const all = more === undefined ? before : (before ?? 0) + more;
  return all === null || Number.isFinite(all) ? all : before;
}
