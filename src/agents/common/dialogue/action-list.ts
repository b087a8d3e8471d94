import type { ActionDescription } from '../../../environment/index.ts';

/** The actions that a prompt lists, by name. */
export interface ActionChoice {
  /** Empty: all. */
  shown: readonly string[];
  hidden: readonly string[];
}

/** Names are compared case-insensitively. Names of actions that the run does not offer are ignored. */
export function chooseActions(
  actions: readonly ActionDescription[],
  { shown, hidden }: ActionChoice,
): ActionDescription[] {
  const has = (names: readonly string[], name: string) =>
    names.some((candidate) => candidate.toLowerCase() === name.toLowerCase());
  return actions.filter(({ name }) => (shown.length === 0 || has(shown, name)) && !has(hidden, name));
}

/** The list of actions for a prompt: for each its name, what it does, and its input as the model has to write it. */
export function listActions(actions: readonly ActionDescription[]): string {
  return actions
    .map((action) => `- ${action.name}: ${action.description}\n  Action Input: ${inputExample(action)}`)
    .join('\n');
}

function inputExample({ arguments: args }: ActionDescription): string {
  const fields = args.map(({ name, description }) => `${JSON.stringify(name)}: <${description}>`);
  return `{${fields.join(', ')}}`;
}
