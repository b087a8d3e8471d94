import type { AgentOptions } from '../../schema/index.ts';
import type { Agent } from '../agent.ts';
import {
  type DialogueSettings,
  dialogueOptions,
  listOption,
  oneOf,
  readDialogueSettings,
} from '../common/dialogue/index.ts';
import { wholeNumberOption } from '../common/options.ts';
import { entryPurposes } from './prompts.ts';

export interface ResearchSettings {
  dialogue: DialogueSettings;
  /** Entries of a reply beside the action, in their order. */
  entries: string[];
  /** Of the task, the prompt tells the research problem alone, or also metric, submission and files. */
  tellsTask: 'problem' | 'whole';
  /** Null: there is no long memory. */
  log: 'own' | 'actions' | null;
  /** Steps after which the log is asked before each further one. */
  recallAfter: number;
  /** The agent stops after so many steps of its own; 0: it goes on as long as the run does. */
  turns: number;
}

export const researchOptions = {
  profile: {
    description:
      'default, or paper: the rules of the paper, where the research log costs steps and format errors do not; other options given beside it win',
    default: 'default',
  },
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
  turns: {
    description: 'it stops after so many steps of its own; 0: it goes on as long as the run (paper: 50)',
    default: 0,
  },
} satisfies Agent['options'];

/** What the paper's agent was told of, of all the actions that its environment had. */
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

const profiles: Readonly<Record<'default' | 'paper', AgentOptions>> = {
  default: {},
  paper: { actions: paperActions.join(', '), turns: 50 },
};

/** Throws a UserError for a value that makes no sense. */
export function readResearchSettings(
  agent: Pick<Agent, 'name' | 'options'>,
  given: AgentOptions,
): ResearchSettings {
  const profile = oneOf(agent, 'profile', given.profile ?? 'default', ['default', 'paper']);
  const options = { ...profiles[profile], ...given };
  const dialogue = readDialogueSettings(agent, options);
  const known = [...entryPurposes.keys()];
  const chosen = listOption(agent, options, 'entries').map((name) => oneOf(agent, 'entries', name, known));
  const retrieval = options.retrieval ?? researchOptions.retrieval.default;
  const isPaper = profile === 'paper';
  const log = isPaper ? 'actions' : 'own';
  return {
    dialogue: isPaper
      ? {
          ...dialogue,
          condense: { ...dialogue.condense, except: [] },
          ...{ formatErrors: 'nothing', showsStanding: false, shortens: false },
        }
      : dialogue,
    tellsTask: isPaper ? 'problem' : 'whole',
    entries: known.filter((name) => chosen.includes(name)),
    log: retrieval === true ? log : null,
    recallAfter: wholeNumberOption(agent, options, 'retrieval_after', 0),
    turns: wholeNumberOption(agent, options, 'turns', 0),
  };
}
