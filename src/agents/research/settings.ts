import type { AgentOptions } from '../../schema/index.ts';
import type { Agent } from '../agent.ts';
import {
  type DialogueSettings,
  dialogueOptions,
  isPaperProfile,
  listOption,
  oneOf,
  readDialogueSettings,
} from '../common/dialogue/index.ts';
import { wholeNumberOption } from '../common/options.ts';
import { entryPurposes } from './prompts.ts';

export interface ResearchSettings {
  dialogue: DialogueSettings;
  /** The entries of a reply besides the action, in order. */
  entries: string[];
  /** Null: there is no long-term memory. */
  log: 'own' | 'actions' | null;
  /** The number of steps after which the log is consulted before every further step. */
  recallAfter: number;
}

export const researchOptions = {
  ...dialogueOptions,
  entries: {
    description: 'what a reply holds beside its action, separated by commas',
    default: [...entryPurposes.keys()].join(', '),
  },
  retrieval: {
    description: 'whether it keeps a research log, and asks it before each step what matters now',
    default: true,
  },
  retrieval_after: { description: 'steps after which the log is asked for the first time', default: 4 },
} satisfies Agent['options'];

/** Throws a UserError for an invalid value. */
export function readResearchSettings(
  agent: Pick<Agent, 'name' | 'options'>,
  given: AgentOptions,
): ResearchSettings {
  const known = [...entryPurposes.keys()];
  const chosen = listOption(agent, given, 'entries').map((name) => oneOf(agent, 'entries', name, known));
  const retrieval = given.retrieval ?? researchOptions.retrieval.default;
  const log = isPaperProfile(agent, given) ? 'actions' : 'own';
  return {
    dialogue: readDialogueSettings(agent, given),
    entries: known.filter((name) => chosen.includes(name)),
    log: retrieval === true ? log : null,
    recallAfter: wholeNumberOption(agent, given, 'retrieval_after', 0),
  };
}
