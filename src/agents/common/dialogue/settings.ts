import { actionDefinitions } from '../../../environment/index.ts';
import { UserError } from '../../../lib/errors.ts';
import { nearest } from '../../../lib/nearest.ts';
import type { AgentOptions } from '../../../schema/index.ts';
import type { Agent } from '../../agent.ts';
import { wholeNumberOption } from '../options.ts';
import type { ActionChoice } from './action-list.ts';
import type { CondenseSettings } from './condense.ts';
import type { HistoryWindow } from './history.ts';

/** How an agent that writes its actions as text talks to its model. */
export interface DialogueSettings {
  window: HistoryWindow;
  /** The number of unusable replies in a row that are allowed for one action. */
  attempts: number;
  condense: CondenseSettings;
  actions: ActionChoice;
  /**
   * What an unusable reply costs. `steps`: it is executed as far as it was read, so the environment reports what is
   * wrong, and it counts as a step. `nothing`: the model is asked again, as in the paper.
   */
  formatErrors: 'steps' | 'nothing';
  /** Shows the budget and the state of the submission, and asks once before a run ends without a fresh one. */
  showsState: boolean;
  /** Leaves out more and more of the history if the conversation is too long for the model. */
  shortens: boolean;
  /** Whether the prompt describes only the research problem of the task, or also its metric, submission and files. */
  tellsTask: 'problem' | 'whole';
  /** The agent stops after so many of its own steps. */
  turns: number;
}

/** The options that all these agents have. */
export const dialogueOptions = {
  profile: {
    description:
      'default, or paper: the rules of the paper, where format errors cost no step and neither budget nor submission is shown; other options given beside it win',
    default: 'default',
  },
  steps_in_context: { description: 'last steps that the prompt holds', default: 3 },
  observations_in_context: { description: 'how many of these are shown with their observation', default: 3 },
  attempts: {
    description: 'replies in a row that may be unusable before the agent gives up',
    default: 5,
  },
  summarise_over: {
    description: 'observations of more characters are summarised by the fast model; 0: never',
    default: 5000,
  },
  summarise_block: { description: 'characters that are summarised at once', default: 10_000 },
  actions: {
    description: 'names of the actions that the prompt lists, separated by commas; empty: all there are',
    default: '',
  },
  hidden_actions: {
    description: 'names of actions that the prompt does not list, separated by commas',
    default: '',
  },
  turns: {
    description:
      'it stops after so many steps of its own; 0: it goes on as long as the run (paper: 50, and never 0)',
    default: 0,
  },
} satisfies Agent['options'];

/** They show text that an edit may have to quote exactly. */
const exactActions = ['Read File', 'Inspect Script Lines', 'Search Files', 'Undo Edit Script'];

/** The actions that the paper's agents knew, out of all those that their environment had. */
const paperActions = [
  'List Files',
  'Copy File',
  'Undo Edit Script',
  'Execute Script',
  'Request Help',
  'Final Answer',
  'Understand File',
  'Inspect Script Lines',
  'Edit Script (AI)',
  'Reflection',
];

const paperOptions: AgentOptions = { actions: paperActions.join(', '), turns: 50 };

/** Whether the paper's rules apply. */
export function isPaperProfile(agent: Pick<Agent, 'name' | 'options'>, { profile }: AgentOptions): boolean {
  return oneOf(agent, 'profile', profile ?? 'default', ['default', 'paper']) === 'paper';
}

/** Throws a UserError for an invalid value. */
export function readDialogueSettings(
  agent: Pick<Agent, 'name' | 'options'>,
  chosen: AgentOptions,
): DialogueSettings {
  const isPaper = isPaperProfile(agent, chosen);
  const given = isPaper ? { ...paperOptions, ...chosen } : chosen;
  const number = (name: string, least: number) => wholeNumberOption(agent, given, name, least);
  // In the paper, an unreadable reply costs no step, so without this limit the run might never end.
  const turns = number('turns', isPaper ? 1 : 0);
  return {
    window: {
      steps: number('steps_in_context', 0),
      observations: number('observations_in_context', 0),
      characters: Infinity,
    },
    attempts: number('attempts', 1),
    condense: {
      over: number('summarise_over', 0),
      block: number('summarise_block', 100),
      except: isPaper ? [] : exactActions,
    },
    actions: {
      shown: actionsOption(agent, given, 'actions'),
      hidden: actionsOption(agent, given, 'hidden_actions'),
    },
    formatErrors: isPaper ? 'nothing' : 'steps',
    showsState: !isPaper,
    shortens: !isPaper,
    tellsTask: isPaper ? 'problem' : 'whole',
    turns: turns === 0 ? Infinity : turns,
  };
}

/** An action that a particular run does not offer is ignored there; a name that no run offers is a typing error. */
function actionsOption(agent: Pick<Agent, 'name' | 'options'>, given: AgentOptions, option: string) {
  const names = listOption(agent, given, option);
  const known = [...actionDefinitions.keys()];
  const wrong = names.find((name) => !known.some((action) => action.toLowerCase() === name.toLowerCase()));
  if (wrong === undefined) return names;
  const meant = nearest(wrong, known);
  throw new UserError(
    'wrong_agent_option',
    `the option "${option}" of the agent "${agent.name}" names "${wrong}", and there is no such action`,
    `${meant === null ? '' : `did you mean "${meant}"? `}the actions are: ${known.join(', ')}`,
  );
}

/** The names in a comma-separated text. */
export function listOption(agent: Pick<Agent, 'options'>, given: AgentOptions, name: string): string[] {
  const value = String(given[name] ?? agent.options[name]?.default ?? '');
  return value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Throws a UserError unless it is one of the choices. */
export function oneOf<Choice extends string>(
  agent: Pick<Agent, 'name'>,
  name: string,
  value: unknown,
  choices: readonly Choice[],
): Choice {
  const choice = choices.find((candidate) => candidate === value);
  if (choice !== undefined) return choice;
  throw new UserError(
    'wrong_agent_option',
    `the option "${name}" of the agent "${agent.name}" can't be "${String(value)}"`,
    `choose from: ${choices.join(', ')}`,
  );
}
