import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import { OutputParserException } from '@langchain/core/output_parsers';
import type { ChatResult } from '@langchain/core/outputs';
import type { Environment } from '../../environment/index.ts';
import type { ModelMessage } from '../../schema/index.ts';
import { cutOff } from './prompts.ts';
import { ContextTooLong, RunOver } from './run-over.ts';

/** LangChain's view of the run's model. Every call goes through the environment, which meters and records it. */
export class EnvironmentModel extends BaseChatModel {
  readonly #environment: Environment;

  constructor(environment: Environment) {
    // Otherwise an environment variable decides the format of messages.
    super({ outputVersion: 'v0' });
    this.#environment = environment;
  }

  override _llmType(): string {
    return 'environment';
  }

  /** @throws ContextTooLong, RunOver; OutputParserException for a reply that was cut off */
  override async _generate(messages: BaseMessage[], options: this['ParsedCallOptions']): Promise<ChatResult> {
    const reply = await this.#environment.ask({
      role: 'agent',
      purpose: 'act',
      messages: messages.map(toModelMessage),
      stop: options.stop ?? [],
    });
    switch (reply.kind) {
      case 'answered':
        if (reply.finish === 'length') throw new OutputParserException(cutOff, reply.text, cutOff, true);
        return { generations: [{ text: reply.text, message: new AIMessage(reply.text) }] };
      case 'context_too_long':
        throw new ContextTooLong(reply.message);
      case 'refused':
        this.#environment.giveUp('refused', reply.message);
        throw new RunOver(reply.message);
      case 'closed':
        throw new RunOver(reply.message);
    }
  }
}

function toModelMessage(message: BaseMessage): ModelMessage {
  return message.type === 'system'
    ? { role: 'system', text: message.text, stable: true }
    : { role: 'user', text: message.text };
}
