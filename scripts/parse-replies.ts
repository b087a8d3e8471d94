/**
 * Counts how many recorded replies of models our agents can read: `npm run node -- scripts/parse-replies.ts FILE…`.
 * `--help` says more.
 */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { parseReply } from '../src/agents/common/replies/index.ts';
import { recordedFormat } from '../src/agents/common/replies/recorded-format.ts';
import { describeActions } from '../src/environment/index.ts';
import { messageOf } from '../src/lib/errors.ts';
import { readWords } from './read-words.ts';
import { isProgram, runScript, SetUpError } from './script.mjs';

const help = `Usage: npm run node -- scripts/parse-replies.ts [--failures] FILE...

Reads calls.jsonl or calls.jsonl.gz files of recorded runs: a call of a model a line, as JSON with "role", "model" and
"completion". Of the calls with the role "agent" it prints, as JSON, for each model:
  replies    how many there are
  parsed     how many give a known action with all its arguments
  by_reason  why the others do not

  --failures  prints these others instead, each with its file and line, its reason and its text
  --help      prints this`;

const Call = z.object({ role: z.string(), model: z.string(), completion: z.string() });
type Call = z.infer<typeof Call>;

interface Reply extends Call {
  /** File and line. */
  place: string;
}

interface Count {
  replies: number;
  parsed: number;
  by_reason: Record<string, number>;
}

async function main(words: string[]): Promise<number> {
  const { values: flags, positionals: files } = readWords(words, help, {
    help: { type: 'boolean' },
    failures: { type: 'boolean' },
  });
  if (flags.help) {
    console.log(help);
    return 0;
  }
  if (files.length === 0) throw new SetUpError(`No file was given.\n\n${help}`);
  const replies = files.flatMap(repliesOf);
  const actions = describeActions();
  const counts = new Map<string, Count>();
  for (const reply of replies) {
    const parsed = parseReply(reply.completion, actions, recordedFormat);
    const count = counts.get(reply.model) ?? { replies: 0, parsed: 0, by_reason: {} };
    counts.set(reply.model, count);
    count.replies++;
    if (parsed.ok) {
      count.parsed++;
      continue;
    }
    count.by_reason[parsed.reason] = (count.by_reason[parsed.reason] ?? 0) + 1;
    if (flags.failures) showFailure(reply, parsed);
  }
  if (!flags.failures) console.log(JSON.stringify(Object.fromEntries(counts), null, 2));
  return 0;
}

function repliesOf(file: string): Reply[] {
  const lines = contentOf(file).split('\n');
  return lines.flatMap((line, index) => {
    const place = `${file}, line ${index + 1}`;
    const call = line.trim() === '' ? null : callOf(line, place);
    return call?.role === 'agent' ? [{ ...call, place }] : [];
  });
}

function contentOf(file: string): string {
  try {
    const bytes = readFileSync(file);
    const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
    return new TextDecoder('utf-8', { fatal: true }).decode(isGzip ? gunzipSync(bytes) : bytes);
  } catch (error) {
    throw new SetUpError(`${file} cannot be read: ${messageOf(error)}`);
  }
}

function callOf(line: string, place: string): Call {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw new SetUpError(`${place} is not JSON: ${messageOf(error)}`);
  }
  const call = Call.safeParse(value);
  if (!call.success) throw new SetUpError(`${place} is not a recorded call:\n${z.prettifyError(call.error)}`);
  return call.data;
}

function showFailure(
  { place, model, completion }: Reply,
  failure: { reason: string; message: string },
): void {
  console.log(
    `=== ${place} (${model}): ${failure.reason}\n${failure.message}\n--- the reply\n${completion}\n`,
  );
}

if (isProgram(import.meta.url)) await runScript(main);
