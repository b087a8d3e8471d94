import type { Agent } from '../agent.ts';
import {
  chooseActions,
  Dialogue,
  dialogueOptions,
  listActions,
  readDialogueSettings,
} from '../common/dialogue/index.ts';
import { taskText } from '../common/task-text.ts';
import { actHead } from './prompts.ts';

/** The paper's agent without any reasoning of its own: each reply is an action and its input. */
export const act: Agent = {
  name: 'act',
  summary: 'Lets a language model act step by step, without a word of reasoning.',
  needs: { model: true, reference: false },
  options: dialogueOptions,
  ready(options) {
    readDialogueSettings(act, options);
  },
  async run({ environment, options }) {
    const settings = readDialogueSettings(act, options);
    const actions = listActions(chooseActions(environment.actions, settings.actions));
    const head = actHead(taskText(environment.task, settings.tellsTask), actions);
    const dialogue = new Dialogue(environment, head, { entries: [] }, settings);
    while (dialogue.history.length < settings.turns) {
      const turn = await dialogue.nextTurn();
      if (turn === null) return;
      const { ended } = await dialogue.take(turn);
      if (ended) return;
    }
  },
};
