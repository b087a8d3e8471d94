import type { ActionDescription } from '../../environment/index.ts';
import type { Action, ModelTool, ToolCall } from '../../schema/index.ts';

const longestName = 64;

/** The actions of an environment as tools that any provider accepts. */
export class Toolbox {
  readonly tools: readonly ModelTool[];
  readonly #actions = new Map<string, string>();

  constructor(actions: readonly ActionDescription[]) {
    this.tools = actions.map(({ name, description, input_schema }) => {
      const tool = this.#newName(name);
      this.#actions.set(tool, name);
      return { name: tool, description, input_schema };
    });
  }

  /** The name of the tool for an action; the action's own name if there is none. */
  toolFor(action: string): string {
    return [...this.#actions].find(([, name]) => name === action)?.[0] ?? action;
  }

  /** The action of a tool; the tool's own name if there is none. */
  actionNamed(tool: string): string {
    return this.#actions.get(tool) ?? tool;
  }

  /**
   * The action that a call asks for. The environment checks whether the action exists, and whether its arguments are
   * valid.
   */
  actionOf({ name, input }: ToolCall): Action {
    return { name: this.actionNamed(name), args: input as Action['args'] };
  }

  #newName(action: string): string {
    const plain = action.replaceAll(/[^A-Za-z0-9]+/g, '_').replaceAll(/^_+|_+$/g, '') || 'action';
    for (let number = 1; ; number += 1) {
      const suffix = number === 1 ? '' : `_${number}`;
      const name = plain.slice(0, longestName - suffix.length) + suffix;
      if (!this.#actions.has(name)) return name;
    }
  }
}
