import { z } from 'zod';
import type { ModelRequest } from '../../schema/index.ts';
import { type ActionOutcome, defineAction } from '../action.ts';
import type { ActionContext } from '../action-context.ts';
import { done, edit, outcomeOf, replyText } from './outcomes.ts';
import { reflect, retrieve } from './prompts/research-log.ts';

const logName = 'research_log.log';
/** Of a longer log, the oldest entries are left out. */
const maxLogBytes = 200_000;
const fewestLogCharacters = 2_000;

const appendSummary = defineAction({
  name: 'Append Summary to Research Log',
  description: `Appends to the research log, ${logName}, which is created if it does not exist.`,
  returns: 'The number of bytes appended.',
  args: { content: z.string().describe('what was done in this step, why, and what resulted') },
  run: (context, { content }) =>
    edit(context, logName, () => {
      const entry = Buffer.from(`${content}\n`);
      context.files.write(logName, entry, 'append');
      return `Appended ${entry.length} bytes to ${logName}.`;
    }),
});

const reflection = defineAction({
  name: 'Reflection',
  description: 'A language model answers a question from the research log.',
  returns: 'The answer of the model.',
  args: { things_to_reflect_on: z.string().min(1).describe('what to reflect on, as a detailed question') },
  needs: 'model',
  run: (context, { things_to_reflect_on }) =>
    askAboutLog(context, (log) => reflect(context.task.problem, log, things_to_reflect_on)),
});

const retrieval = defineAction({
  name: 'Retrieval from Research Log',
  description: 'A language model lists what in the research log is relevant to a plan.',
  returns: 'The answer of the model.',
  args: { current_plan: z.string().describe('the current research plan and its status, in detail') },
  needs: 'model',
  run: (context, { current_plan }) =>
    askAboutLog(context, (log) => retrieve(context.task.problem, log, current_plan)),
});

/** Sends as much of the log's end as the model can read. */
async function askAboutLog(
  context: ActionContext,
  request: (log: string) => ModelRequest,
): Promise<ActionOutcome> {
  let log = readLog(context);
  if (log === null) {
    return done(`The research log is empty. Append Summary to Research Log writes to it (${logName}).`);
  }
  for (;;) {
    const reply = await context.ask(request(log));
    if (reply.kind !== 'context_too_long' || log.length < 2 * fewestLogCharacters) {
      return outcomeOf(replyText(reply, 'The research log was not read', ''));
    }
    log = shortened(log, Math.floor(log.length / 2));
  }
}

/** Null if it is empty. */
function readLog({ files }: ActionContext): string | null {
  if (files.kindOf(logName) === null) return null;
  const { head, tail, size } = files.read(logName, maxLogBytes);
  const text = (tail.length === 0 ? head : tail).toString('utf8');
  if (text.trim() === '') return null;
  return size > maxLogBytes ? shortened(text, maxLogBytes) : text;
}

/** The end of the log, from the start of a line if there is one. */
function shortened(log: string, characters: number): string {
  const end = log.slice(-characters);
  const line = end.indexOf('\n') + 1;
  return `[older entries are left out]\n${end.slice(line < end.length ? line : 0)}`;
}

export const researchLogActions = [appendSummary, reflection, retrieval];
