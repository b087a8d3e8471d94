import { z } from 'zod';
import { withoutEnd } from '../../lib/without-end.ts';
import type { ModelRequest } from '../../schema/index.ts';
import { unifiedDiff } from '../../store/index.ts';
import { type ActionOutcome, defineAction, lineNumber } from '../action.ts';
import type { ActionContext } from '../action-context.ts';
import { cutMiddle } from '../output.ts';
import { omissionIn } from './omission.ts';
import { edit, failed, unanswered } from './outcomes.ts';
import { segmentEdit, wholeEdit } from './prompts/editing.ts';
import { codeOfReply } from './reply-code.ts';
import { readings, segmentOf } from './segment.ts';
import { syntaxProblem } from './syntax.ts';
import { contentWith, emptyFile, isPython, linesOf, readTextFile, type TextFile } from './text-file.ts';

/** More than a model writes in one reply. */
const largestScript = 400_000;
const largestSegmentFile = 4 * 2 ** 20;

const smallerParts = 'Edit Script Segment (AI) and Edit File change a part of a file.';

const scriptName = z.string().min(1).describe('path of the script relative to the workspace');
const instruction = z.string().min(1).describe('what to change, in words, as precisely as possible');
const saveName = z
  .string()
  .min(1)
  .describe('path to save the edited script to, relative to the workspace; often script_name');

const editScript = defineAction({
  name: 'Edit Script (AI)',
  description:
    'A language model rewrites a whole script as instructed, starting from an empty one if it does not exist. Shows what changed; Undo Edit Script reverts it. Nothing is saved if the result is not valid Python.',
  returns: 'A diff of the script before and after. `failed`: nothing was saved, and why.',
  args: { script_name: scriptName, edit_instruction: instruction, save_name: saveName },
  needs: 'model',
  run: async (context, { script_name, edit_instruction, save_name }) => {
    context.files.checkWritable(save_name);
    const isThere = context.files.kindOf(script_name) !== null;
    const file = isThere ? readTextFile(context.files, script_name, largestScript) : emptyFile;
    const written = await askForCode(
      context,
      wholeEdit(save_name, file.text, edit_instruction),
      isPython(save_name),
    );
    if ('status' in written) return written;
    const end = file.text === '' ? '\n' : file.text.slice(withoutEnd(file.text, '\n').length);
    const text = withoutEnd(written.code, '\n') + end;
    const began = isThere ? null : `There was no ${script_name}: the edit began with an empty script.`;
    return save(context, { script_name, save_name, file, texts: [text], notices: [began, written.notice] });
  },
});

const editSegment = defineAction({
  name: 'Edit Script Segment (AI)',
  description:
    'A language model rewrites some lines of a script as instructed. Shows what changed; Undo Edit Script reverts it. Nothing is saved if the resulting script is not valid Python.',
  returns: 'A diff of the script before and after. `failed`: nothing was saved, and why.',
  args: {
    script_name: scriptName,
    start_line_number: lineNumber.describe('first line to edit, from 1'),
    end_line_number: lineNumber.describe('last line to edit, inclusive'),
    edit_instruction: instruction,
    save_name: saveName,
  },
  needs: 'model',
  run: async (context, args) => {
    const { script_name, start_line_number: first, end_line_number: last, save_name } = args;
    context.files.checkWritable(save_name);
    const file = readTextFile(context.files, script_name, largestSegmentFile);
    if (last < first) return failed(`end_line_number ${last} lies before start_line_number ${first}.`);
    const count = linesOf(file.text).length;
    if (first > count) return failed(`There is no line ${first}: ${script_name} has ${count} lines.`);
    const segment = segmentOf(file.text, first, last);
    const request = segmentEdit(save_name, segment, args.edit_instruction);
    const written = await askForCode(context, request, isPython(save_name));
    if ('status' in written) return written;
    const end = file.text.endsWith('\n') ? '\n' : '';
    const meant = isPython(save_name)
      ? readings(segment.lines, written.code.split('\n'))
      : [written.code.split('\n')];
    const texts = meant.map((lines) => [...segment.before, ...lines, ...segment.after].join('\n') + end);
    return save(context, { script_name, save_name, file, texts, notices: [written.notice] });
  },
});

interface Written {
  code: string;
  notice: string | null;
}

/** What the model wrote, or why there is nothing to save. */
async function askForCode(
  context: ActionContext,
  request: ModelRequest,
  python: boolean,
): Promise<Written | ActionOutcome> {
  const reply = await context.ask(request);
  if (reply.kind !== 'answered') return unanswered(reply, 'Nothing was saved', smallerParts);
  if (reply.finish === 'length') {
    return notSaved(`the model's reply was cut off at its limit of tokens. ${smallerParts}`);
  }
  const found = codeOfReply(reply.text, { python });
  return found.ok ? found : notSaved(`the model's reply can't be used: ${found.problem}.`);
}

interface Edited {
  script_name: string;
  save_name: string;
  /** The script before the edit. */
  file: TextFile;
  /** Possible readings of the reply, the most likely first: the first that parses is used. */
  texts: readonly string[];
  notices: readonly (string | null)[];
}

async function save(context: ActionContext, edited: Edited): Promise<ActionOutcome> {
  const { script_name, save_name, file, notices } = edited;
  const chosen = isPython(save_name) ? await firstThatParses(context, edited.texts) : edited.texts[0];
  if (chosen === undefined) throw new Error('nothing to save');
  if (typeof chosen !== 'string') {
    const outcome = notSaved(
      `the edited script would not be valid Python: ${chosen.problem}. Ask again with a more precise instruction.`,
    );
    return { ...outcome, byModel: true };
  }
  if (chosen === file.text) return notSaved('the model changed nothing.');
  const omission = omissionIn(file.text, chosen);
  if (omission !== null) {
    const outcome = notSaved(
      `the model left a part of the script out, where it wrote: ${omission}. ${smallerParts}`,
    );
    return { ...outcome, byModel: true };
  }
  const difference = unifiedDiff(file.text, chosen, { before: script_name, after: save_name });
  const shown = difference ?? '(The two differ too much to be compared line by line.)';
  const outcome = edit(context, save_name, () => {
    context.files.write(save_name, contentWith(file, chosen), 'replace');
    const head = [`Saved to ${save_name}.`, ...notices, 'Check that this is what you meant:'];
    return cutMiddle(`${head.filter((part) => part !== null).join(' ')}\n${shown}`);
  });
  // A model wrote the lines that the difference shows, so numbers in them are no measurements.
  return { ...outcome, byModel: true };
}

/** If none parses, reports the problem of the last one, which is the text as the model wrote it. */
async function firstThatParses(
  context: ActionContext,
  texts: readonly string[],
): Promise<string | { problem: string }> {
  let problem = '';
  for (const text of texts) {
    const found = await syntaxProblem(context, text);
    if (found === null) return text;
    problem = found;
  }
  return { problem };
}

function notSaved(why: string): ActionOutcome {
  return failed(`Nothing was saved: ${why}`);
}

export const scriptEditActions = [editScript, editSegment];
