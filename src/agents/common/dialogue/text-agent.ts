import type { Agent } from '../../agent.ts';
import { taskText } from '../task-text.ts';
import { chooseActions, listActions } from './action-list.ts';
import { Dialogue } from './dialogue.ts';
import { dialogueOptions, readDialogueSettings } from './settings.ts';

/** The parts in which agents that only ask and act differ. */
export interface TextAgentParts {
  name: string;
  summary: string;
  /** The entries of a reply besides its action. */
  entries: readonly string[];
  /** The part of the prompt that never changes. */
  head: (task: string, actions: string) => string;
}

/** An agent that lets a model act step by step, and does nothing itself between the steps. */
export function textAgent({ name, summary, entries, head }: TextAgentParts): Agent {
  const agent: Agent = {
    name,
    summary,
    needs: { model: true, reference: false },
    usesExperience: true,
    options: dialogueOptions,
    ready(options) {
      readDialogueSettings(agent, options);
    },
    async run({ environment, options, experience }) {
      const settings = readDialogueSettings(agent, options);
      const actions = listActions(chooseActions(environment.actions, settings.actions));
      const text = head(taskText(environment.task, settings.tellsTask, experience), actions);
      const dialogue = new Dialogue(environment, text, { entries }, settings);
      while (dialogue.history.length < settings.turns) {
        const turn = await dialogue.nextTurn();
        if (turn === null) return;
        const { ended } = await dialogue.take(turn);
        if (ended) return;
      }
    },
  };
  return agent;
}
