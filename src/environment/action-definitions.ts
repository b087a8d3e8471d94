import { type ActionDefinition, describeAction } from './action.ts';
import { fileEditActions } from './actions/edit-file.ts';
import { scriptEditActions } from './actions/edit-script.ts';
import { executeActions } from './actions/execute.ts';
import { fileActions } from './actions/files.ts';
import { judgeActions } from './actions/judge.ts';
import { helpActions } from './actions/request-help.ts';
import { researchLogActions } from './actions/research-log.ts';
import { understandingActions } from './actions/understand-file.ts';
import type { ActionDescription } from './environment.ts';

const all = [
  ...fileActions,
  ...fileEditActions,
  ...executeActions,
  ...understandingActions,
  ...scriptEditActions,
  ...researchLogActions,
  ...helpActions,
  ...judgeActions,
];

/** All actions by name, in the order in which agents see them. */
export const actionDefinitions: ReadonlyMap<string, ActionDefinition> = new Map(
  all.map((action) => [action.name, action]),
);

/** Descriptions of the actions that are available with a model and a person. */
export function describeActions(): ActionDescription[] {
  return [...actionDefinitions.values()].map(describeAction);
}

/** The actions that are available with or without a model, and with or without a person. */
export function offeredActions(there: {
  model: boolean;
  person: boolean;
}): ReadonlyMap<string, ActionDefinition> {
  return new Map([...actionDefinitions].filter(([, { needs }]) => needs === undefined || there[needs]));
}
