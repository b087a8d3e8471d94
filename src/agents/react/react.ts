import type { Agent } from '../agent.ts';
import {
  chooseActions,
  Dialogue,
  dialogueOptions,
  listActions,
  readDialogueSettings,
} from '../common/dialogue/index.ts';
import { taskText } from '../common/task-text.ts';
import { reactHead, thought } from './prompts.ts';

/** The paper's ReAct agent: each reply is a thought, an action and its input. */
export const react: Agent = {
  name: 'react',
  summary: 'Lets a language model think, act and observe, step by step.',
  needs: { model: true, reference: false },
  options: dialogueOptions,
  ready(options) {
    readDialogueSettings(react, options);
  },
  async run({ environment, options }) {
    const settings = readDialogueSettings(react, options);
    const actions = listActions(chooseActions(environment.actions, settings.actions));
    const head = reactHead(taskText(environment.task, settings.tellsTask), actions);
    const dialogue = new Dialogue(environment, head, { entries: [thought] }, settings);
    while (dialogue.history.length < settings.turns) {
      const turn = await dialogue.nextTurn();
      if (turn === null) return;
      const { ended } = await dialogue.take(turn);
      if (ended) return;
    }
  },
};
