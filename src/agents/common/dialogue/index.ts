export { chooseActions, listActions } from './action-list.ts';
export { cutMiddle } from './cut-middle.ts';
export { Dialogue, type DialogueTurn } from './dialogue.ts';
export { fenced, type PastStep, showReply } from './history.ts';
export { replyFormat } from './prompts.ts';
export {
  type DialogueSettings,
  dialogueOptions,
  isPaperProfile,
  listOption,
  oneOf,
  readDialogueSettings,
} from './settings.ts';
export { textAgent } from './text-agent.ts';
