import { AgentActionOutputParser } from '@langchain/classic/agents';
import type { AgentAction } from '@langchain/core/agents';
import { OutputParserException } from '@langchain/core/output_parsers';
import type { Environment } from '../../environment/index.ts';
import { parseReply } from '../common/replies/index.ts';

const format = { entries: ['Thought'] };

/**
 * Reads a reply in the ReAct format. LangChain.js's own parser reads only one line of an input, and takes every "Final
 * Answer:" inside a text for the end; its Python original, which the paper used, reads inputs of many lines.
 */
export class ReplyParser extends AgentActionOutputParser {
  override lc_namespace = ['mlagentbench', 'agents', 'langchain'];
  readonly #environment: Environment;

  constructor(environment: Environment) {
    super();
    this.#environment = environment;
  }

  /** @throws OutputParserException with what is wrong, for the model */
  override async parse(text: string): Promise<AgentAction> {
    const reply = parseReply(text, this.#environment.actions, format);
    this.#environment.note(reply.entries);
    if (reply.ok) return { tool: reply.action, toolInput: JSON.stringify(reply.args), log: text };
    const answer = reply.reason === 'no_action' ? finalAnswer(text) : null;
    if (answer === null) throw new OutputParserException(reply.message, text, reply.message, true);
    return { tool: 'Final Answer', toolInput: JSON.stringify({ final_answer: answer }), log: text };
  }

  override getFormatInstructions(): string {
    return 'Thought, Action, Action Input; or Thought, Final Answer.';
  }
}

/** The text under the label that ends a conversation; null if the label is missing. */
function finalAnswer(text: string): string | null {
  const answer = /^[ \t*#]*Final Answer\**[ \t]*:(.*)$/ims.exec(text)?.[1] ?? '';
  return answer.replace(/^\**/, '').trim() || null;
}
