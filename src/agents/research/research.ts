import type { Environment } from '../../environment/index.ts';
import type { Lesson } from '../../schema/index.ts';
import type { Agent } from '../agent.ts';
import { chooseActions, Dialogue, type DialogueTurn, listActions } from '../common/dialogue/index.ts';
import { taskText } from '../common/task-text.ts';
import { carriedPlan, planEntry, recalled, researchHead } from './prompts.ts';
import { LogOfActions, OwnLog, type ResearchLog } from './research-log.ts';
import { type ResearchSettings, readResearchSettings, researchOptions } from './settings.ts';

/** The paper's research agent; docs/agents/research.md describes how it works, and how its two profiles differ. */
export const research: Agent = {
  name: 'research',
  summary:
    'Lets a language model plan, reflect, check facts and act, with a research log as its long memory.',
  needs: { model: true, reference: false },
  usesExperience: true,
  options: researchOptions,
  ready(options) {
    readResearchSettings(research, options);
  },
  async run({ environment, options, experience }) {
    const settings = readResearchSettings(research, options);
    const dialogue = openDialogue(environment, settings, experience);
    const log = openLog(environment, settings);
    let plan = '';
    // Malformed steps that were forgotten do not count.
    while (dialogue.history.length < settings.dialogue.turns) {
      const number = dialogue.history.length;
      const memory = number > 0 && number >= settings.recallAfter ? await log?.recall(plan) : null;
      const turn = await dialogue.nextTurn(leadOf(memory ?? '', plan, dialogue.history.last?.entries));
      if (turn === null) return;
      const settled = withoutMarks(turn);
      plan = settled.entries[planEntry] ?? plan;
      const { step, ended } = await dialogue.take(settled);
      if (ended) return;
      await log?.record(number, step);
    }
  },
};

function openDialogue(
  environment: Environment,
  { dialogue, entries }: ResearchSettings,
  lessons: readonly Lesson[] | undefined,
): Dialogue {
  const { task } = environment;
  const actions = listActions(chooseActions(environment.actions, dialogue.actions));
  const head = researchHead(taskText(task, dialogue.tellsTask, lessons), actions, entries);
  return new Dialogue(environment, head, { entries }, dialogue);
}

function openLog(environment: Environment, { log }: ResearchSettings): ResearchLog | null {
  if (log === null) return null;
  return log === 'own' ? new OwnLog(environment) : new LogOfActions(environment);
}

/** The text above the last steps: the selection from the log, and the plan if the last step does not show it. */
function leadOf(memory: string, plan: string, last: Readonly<Record<string, string>> | undefined): string {
  const parts = [];
  if (memory !== '') parts.push(recalled(memory));
  if (plan !== '' && last !== undefined && !last[planEntry]) parts.push(carriedPlan(plan));
  return parts.join('\n\n');
}

/** The markers of new parts of the plan are not needed any more. */
function withoutMarks(turn: DialogueTurn): DialogueTurn {
  const plan = turn.entries[planEntry];
  if (plan === undefined) return turn;
  return { ...turn, entries: { ...turn.entries, [planEntry]: plan.replaceAll('**', '') } };
}
