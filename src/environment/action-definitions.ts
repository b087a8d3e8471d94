import type { ActionDefinition } from './action.ts';
import { executeActions } from './actions/execute.ts';
import { fileActions } from './actions/files.ts';
import { judgeActions } from './actions/judge.ts';

/** All actions by name, in the order in which agents are told of them. */
export const actionDefinitions: ReadonlyMap<string, ActionDefinition> = new Map(
  [...fileActions, ...executeActions, ...judgeActions].map((action) => [action.name, action]),
);

/** The actions that can be done where there is a model, or a person, or not. */
export function offeredActions(there: {
  model: boolean;
  person: boolean;
}): ReadonlyMap<string, ActionDefinition> {
  return new Map([...actionDefinitions].filter(([, { needs }]) => needs === undefined || there[needs]));
}
