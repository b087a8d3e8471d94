import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { type ActionOutcome, defineAction } from '../action.ts';
import type { ActionContext } from '../action-context.ts';
import { cutMiddle } from '../output.ts';
import { type Block, blocksOf } from './blocks.ts';
import { fileName } from './files.ts';
import { done, outcomeOf, type ReplyText, replyText } from './outcomes.ts';
import { mergeFindings, readBlock } from './prompts/understanding.ts';
import { isText, notText, textFileOf } from './text-file.ts';

const blockCharacters = 10_000;
/** Each block costs a call, so the rest of the file is not read. */
const maxBlocks = 20;
/** A character takes at most four bytes in UTF-8. */
const maxBytes = 4 * blockCharacters * maxBlocks;
const maxFindingCharacters = 4_000;

const understandFile = defineAction({
  name: 'Understand File',
  description:
    'A language model reads a file and reports what it says about a question, with line numbers. Read File and Inspect Script Lines show the file itself.',
  returns: 'The answer of the model.',
  args: {
    file_name: fileName,
    things_to_look_for: z.string().min(1).describe('what to find out about the file, as a detailed question'),
  },
  needs: 'model',
  run: async (context, { file_name, things_to_look_for: question }) => {
    const { head, tail, size } = context.files.read(file_name, maxBytes);
    const content = tail.length === 0 ? head : wholeCharacters(head);
    if (!isText(content)) throw notText(file_name);
    const { text } = textFileOf(content.toString('utf8'));
    if (text.trim() === '') return done(`${file_name} is empty.`);
    const all = blocksOf(text, blockCharacters);
    const blocks = all.slice(0, maxBlocks);
    const outcome = await understand(context, file_name, blocks, question);
    if (tail.length === 0 && blocks.length === all.length) return outcome;
    const notice = `[Only lines 1 to ${blocks.at(-1)?.last ?? 0} were read: the file has ${size} bytes, too many to be read whole.]`;
    return { ...outcome, observation: `${outcome.observation}\n${notice}` };
  },
});

/** Asks the model about every block, and merges the findings. */
async function understand(
  context: ActionContext,
  name: string,
  blocks: readonly Block[],
  question: string,
): Promise<ActionOutcome> {
  const findings: { block: Block; answer: ReplyText }[] = [];
  for (const [index, block] of blocks.entries()) {
    const place = { number: index + 1, of: blocks.length };
    const reply = await context.ask(readBlock(name, block, place, question));
    const answer = replyText(reply, `${name} was not read`, '');
    if (blocks.length === 1 || reply.kind === 'closed') return outcomeOf(answer);
    findings.push({ block, answer });
  }
  const [first] = findings;
  if (first !== undefined && findings.every(({ answer }) => !answer.ok)) return outcomeOf(first.answer);
  const texts = findings.map(findingText);
  const merged = replyText(
    await context.ask(mergeFindings(name, texts, question)),
    'They were not merged',
    '',
  );
  if (merged.ok) return outcomeOf(merged);
  // The parts have been read and paid for.
  const { observation } = merged.outcome;
  return {
    ...done(cutMiddle(`The findings for each part. ${observation}\n\n${texts.join('\n\n')}`)),
    byModel: true,
  };
}

function findingText({ block, answer }: { block: Block; answer: ReplyText }): string {
  const text = answer.ok ? answer.text : `(${answer.outcome.observation})`;
  return `Lines ${block.first} to ${block.last}:\n${text.slice(0, maxFindingCharacters)}`;
}

/** Without an incomplete character at the end. */
function wholeCharacters(content: Buffer): Buffer {
  for (let end = content.length; end > content.length - 4 && end > 0; end--) {
    if (isUtf8(content.subarray(0, end))) return content.subarray(0, end);
  }
  return content;
}

export const understandingActions = [understandFile];
