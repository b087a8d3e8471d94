import type { OriginalCall } from './original-run.ts';

/** The facts about one call in a log of the original. */
export type LoggedCall = Pick<
  OriginalCall,
  'prompt' | 'completion' | 'model' | 'max_tokens' | 'prompt_tokens' | 'sampled_tokens'
>;

const bar = '='.repeat(19);
const endBar = '='.repeat(21);
const promptLine = /^={5,}prompt={5,}$/;
const replyLine = /^={5,}(?!=)(.*) response \((.{1,40})\)={5,}$/;
const tokensLine = /^={5,}tokens={5,}$/;
/** The limit of a line with a bar, including the text in it. */
const mostOfLine = 10_000;
const countLines = /^Number of prompt tokens: (\d{1,12})\nNumber of sampled tokens: (\d{1,12})\n/;
/** Surrounds the prompt in the file, for every model. */
const before = '\n\nHuman: ';
const after = ' \n\nAssistant:';

/**
 * Reads a log of calls: prompt, reply and numbers of tokens, each below a separate line. An incomplete last call is
 * left out, and `torn` reports it.
 */
export function readCallLog(whole: string, most: number): { calls: LoggedCall[]; torn: boolean } {
  const text = whole.replaceAll('\r\n', '\n');
  const calls: LoggedCall[] = [];
  let prompt = nextLine(text, 0, promptLine);
  if (prompt === null) return { calls, torn: text.trim() !== '' };
  while (prompt !== null) {
    const reply = nextLine(text, prompt.end, replyLine);
    const tokens = reply === null ? null : nextLine(text, reply.end, tokensLine);
    // The last number is complete when its line ends.
    const numbers = tokens === null ? null : countLines.exec(text.slice(tokens.end, tokens.end + 200));
    if (reply === null || tokens === null || numbers === null || calls.length >= most)
      return { calls, torn: true };
    const [, model = '', limit = ''] = reply.match;
    calls.push({
      prompt: unwrapped(between(text, prompt.end, reply.start)),
      completion: between(text, reply.end, tokens.start),
      model,
      max_tokens: /^\d{1,12}$/.test(limit) ? Number(limit) : 0,
      prompt_tokens: Number(numbers[1]),
      sampled_tokens: Number(numbers[2]),
    });
    prompt = nextLine(text, tokens.end + numbers[0].length, promptLine);
  }
  return { calls, torn: false };
}

/** One call as the original writes it. */
export function writeLoggedCall(call: LoggedCall): string {
  return [
    `\n${bar}prompt${endBar}\n${before}${call.prompt}${after}`,
    `${bar}${call.model} response (${call.max_tokens})${endBar}\n${call.completion}`,
    `${bar}tokens${endBar}\nNumber of prompt tokens: ${call.prompt_tokens}`,
    `Number of sampled tokens: ${call.sampled_tokens}\n\n\n`,
  ].join('\n');
}

interface FoundLine {
  /** Where it begins, and where the next one does. */
  start: number;
  end: number;
  match: RegExpExecArray;
}

/** The first line from `from` on that matches a pattern of bars; `from` must be the beginning of a line. */
function nextLine(text: string, from: number, pattern: RegExp): FoundLine | null {
  for (let start = from; start >= 0 && start <= text.length; ) {
    if (text.startsWith('=====', start)) {
      const lineEnd = text.indexOf('\n', start);
      const end = lineEnd < 0 ? text.length : lineEnd;
      const match = end - start > mostOfLine ? null : pattern.exec(text.slice(start, end));
      if (match !== null) return { start, end: end + 1, match };
    }
    const before = text.indexOf('\n=====', start);
    if (before < 0) return null;
    start = before + 1;
  }
  return null;
}

/** The lines between two positions, without the last line break. */
function between(text: string, from: number, to: number): string {
  return text.slice(from, Math.max(from, to - 1));
}

function unwrapped(prompt: string): string {
  const isWrapped = prompt.startsWith(before) && prompt.endsWith(after);
  return isWrapped ? prompt.slice(before.length, -after.length) : prompt;
}
