import { plainLine } from '../../lib/plain-line.ts';
import type { ModelMessage, ModelTool } from '../../schema/index.ts';
import { type Answered, asMessage } from '../common/answered.ts';
import { cutMiddle } from '../common/dialogue/index.ts';
import { Toolbox } from '../common/toolbox.ts';
import type { BranchView } from '../search/branch-view.ts';
import type { Written } from '../search/run-search.ts';
import { changeDescription, noMoreTurns, nothingFound, submitDescription } from './prompts.ts';

export interface WriterSettings {
  /** The number of replies for one version. */
  turns: number;
  /** Whether the model may call the actions of the environment. */
  tools: boolean;
  role: 'agent' | 'fast';
}

const handIn: ModelTool = {
  name: 'submit_version',
  description: submitDescription,
  input_schema: {
    type: 'object',
    properties: { change: { type: 'string', description: changeDescription } },
    required: ['change'],
  },
};
const mostOfAnswer = 6_000;
/** The number of replies in a row without anything useful. */
const maxIdle = 3;

/** Asks a model for one version. It may look around and experiment on the branch before it writes. */
export async function writeVersion(
  view: BranchView,
  system: string,
  asked: string,
  { turns, tools, role }: WriterSettings,
  purpose: string,
): Promise<Written> {
  const actions = view.actions.filter(
    ({ name }) => name !== 'Final Answer' && name !== 'Validate Submission',
  );
  const toolbox = new Toolbox(actions);
  const messages: ModelMessage[] = [
    { role: 'system', text: system, stable: true },
    { role: 'user', text: asked.toWellFormed(), stable: true },
  ];
  const before = view.source;
  let hasWritten = false;
  let idle = 0;
  for (let turn = 1; turn <= turns; turn += 1) {
    const request = { role, purpose, messages: [...messages] };
    const reply = await view.ask(tools ? { ...request, tools: [...toolbox.tools, handIn] } : request);
    if (reply.kind !== 'answered')
      return hasWritten ? written('', view) : nothing(`the model gave no answer: ${reply.message}`);
    if (reply.text.trim() !== '') view.note({ Thought: reply.text });
    const script = reply.tool_calls.length === 0 ? scriptIn(reply.text) : null;
    if (script !== null) return await takeScript(view, script, changeIn(reply.text), before);
    messages.push(asMessage(reply));
    const done = await performActions(view, toolbox, reply, messages);
    hasWritten ||= done.hasWritten;
    if (done.change !== null)
      return hasWritten ? written(done.change, view) : nothing('it submitted no change');
    idle = reply.tool_calls.length === 0 ? idle + 1 : 0;
    if (done.ended || idle === maxIdle) break;
    if (reply.tool_calls.length === 0) messages.push({ role: 'user', text: nothingFound });
    else if (turn === turns - 1) messages.push({ role: 'user', text: noMoreTurns });
  }
  return hasWritten ? written('', view) : nothing('no version was written');
}

async function takeScript(
  view: BranchView,
  script: string,
  change: string,
  before: string | null,
): Promise<Written> {
  if (script.trim() === before?.trim()) return nothing('the script is the same as before');
  const args = { file_name: view.task.entry, content: script.toWellFormed() };
  const { status } = await view.step({ name: 'Write File', args });
  return status === 'ok' ? written(change, view) : nothing(`the script could not be written (${status})`);
}

/** Executes the calls of a reply in order, and answers each. */
async function performActions(
  view: BranchView,
  toolbox: Toolbox,
  { tool_calls, finish }: Answered,
  messages: ModelMessage[],
): Promise<{ change: string | null; ended: boolean; hasWritten: boolean }> {
  let hasWritten = false;
  for (const [index, call] of tool_calls.entries()) {
    const answer = (text: string) =>
      messages.push({ role: 'tool', call_id: call.id, name: call.name, text: cutMiddle(text, mostOfAnswer) });
    if (finish === 'length' && index === tool_calls.length - 1) {
      answer('This was not executed: your reply reached its length limit.');
      break;
    }
    const action = toolbox.actionOf(call);
    if (call.name === handIn.name || action.name === 'Final Answer')
      return { change: textIn(call.input), ended: false, hasWritten };
    const { status, observation, ended } = await view.step(action);
    hasWritten ||= status === 'ok' && changesFiles(action.name);
    answer(status === 'ok' ? observation : `${observation}\n[${status}]`);
    if (ended) return { change: null, ended: true, hasWritten };
  }
  return { change: null, ended: false, hasWritten };
}

function changesFiles(action: string): boolean {
  return /^(?:Write|Append|Edit|Copy|Undo|Run Command|Python REPL)/.test(action);
}

/** The longest complete block of code in a reply; null if there is none. */
export function scriptIn(text: string): string | null {
  const { blocks } = blocksOf(text, /^(`{3,})(?:python|py)?[ \t]*$/i);
  const [longest = ''] = blocks.toSorted((one, other) => other.length - one.length);
  return longest.trim() === '' ? null : longest;
}

/** What a reply says outside of its blocks about the change. */
export function changeIn(text: string): string {
  const { outside } = blocksOf(text, /^(`{3,})/);
  const said = outside
    .map((line) => /^\W*change\W*:(.*)$/i.exec(line)?.[1])
    .find((each) => each !== undefined);
  return plainLine(said ?? outside.find((line) => line.trim() !== '')?.trim() ?? '', 300);
}

/** Blocks reach from a line that opens one to the next line of the same fence. Takes linear time, unlike a pattern. */
function blocksOf(text: string, opening: RegExp): { blocks: string[]; outside: string[] } {
  const lines = text.split('\n');
  const ends = lines.map((line) => /^(`{3,})[ \t]*\r?$/.exec(line)?.[1]);
  const last = new Map(ends.map((fence, at) => [fence, at]));
  const blocks: string[] = [];
  const outside: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const fence = opening.exec(line)?.[1];
    // Only if the block ends is the rest searched for its end, and then it is not read again.
    if (fence === undefined || (last.get(fence) ?? 0) <= at) outside.push(line);
    else {
      const end = ends.indexOf(fence, at + 1);
      blocks.push(`${lines.slice(at + 1, end).join('\n')}\n`);
      at = end;
    }
  }
  return { blocks, outside };
}

function textIn(input: unknown): string {
  if (typeof input === 'string') return plainLine(input, 300);
  if (typeof input !== 'object' || input === null) return '';
  return plainLine(Object.values(input).find((value) => typeof value === 'string') ?? '', 300);
}

function written(change: string, view: BranchView): Written {
  return {
    kind: 'written',
    change: change === '' ? `a change of ${view.task.entry} that was not described` : change,
  };
}

function nothing(why: string): Written {
  return { kind: 'nothing', why };
}
