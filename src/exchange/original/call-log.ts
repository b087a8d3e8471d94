import type { OriginalCall } from './original-run.ts';

/** What a log of the original says of one call. */
export type LoggedCall = Pick<
  OriginalCall,
  'prompt' | 'completion' | 'model' | 'max_tokens' | 'prompt_tokens' | 'sampled_tokens'
>;

const bar = '='.repeat(19);
const endBar = '='.repeat(21);
const promptLine = /^={5,}prompt={5,}$/;
const replyLine = /^={5,}(.*) response \((.{1,40})\)={5,}$/;
const tokensLine = /^={5,}tokens={5,}$/;
/** Around the prompt in the file, whichever the model. */
const before = '\n\nHuman: ';
const after = ' \n\nAssistant:';

/**
 * Reads a log of calls: prompt, reply and numbers of tokens, each below a line of its own. A call that is not there to
 * its last line is left out, and `torn` says so.
 */
export function readCallLog(text: string): { calls: LoggedCall[]; torn: boolean } {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const calls: LoggedCall[] = [];
  let at = lines.findIndex((line) => promptLine.test(line));
  if (at < 0) return { calls, torn: text.trim() !== '' };
  while (at >= 0) {
    const reply = indexFrom(lines, at + 1, replyLine);
    const tokens = reply < 0 ? -1 : indexFrom(lines, reply + 1, tokensLine);
    const prompt = /^Number of prompt tokens: (\d{1,12})$/.exec(lines[tokens + 1] ?? '');
    const sampled = /^Number of sampled tokens: (\d{1,12})$/.exec(lines[tokens + 2] ?? '');
    // The last number is whole when its line ends.
    if (tokens < 0 || prompt === null || sampled === null || lines[tokens + 3] === undefined)
      return { calls, torn: true };
    const [, model = '', most = ''] = replyLine.exec(lines[reply] ?? '') ?? [];
    calls.push({
      prompt: unwrapped(lines.slice(at + 1, reply).join('\n')),
      completion: lines.slice(reply + 1, tokens).join('\n'),
      model,
      max_tokens: /^\d{1,12}$/.test(most) ? Number(most) : 0,
      prompt_tokens: Number(prompt[1]),
      sampled_tokens: Number(sampled[1]),
    });
    at = indexFrom(lines, tokens + 3, promptLine);
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

function indexFrom(lines: readonly string[], from: number, pattern: RegExp): number {
  for (let index = from; index < lines.length; index += 1) if (pattern.test(lines[index] ?? '')) return index;
  return -1;
}

function unwrapped(prompt: string): string {
  const isWrapped = prompt.startsWith(before) && prompt.endsWith(after);
  return isWrapped ? prompt.slice(before.length, -after.length) : prompt;
}
