import { z } from 'zod';
import { messageOf } from '../../lib/errors.ts';
import { sha256 } from '../../lib/hash.ts';
import { parseShallowJson } from '../../lib/shallow-json.ts';
import { type ModelMessage, type RubricJudgement, RubricQuestion, RubricRating } from '../../schema/index.ts';
import type { RunTranscript } from '../../statistics/index.ts';
import { judgePrompt, type ShownRun, showRun } from './prompt.ts';

/** The result of one question to a judge. `stopped`: no more calls are possible, or it declined. */
export type JudgeReply =
  | {
      kind: 'answered';
      text: string;
      answeredBy: string | null;
      tokens: { input: number; output: number };
      /** In US dollars; null if the price is unknown. */
      cost: number | null;
    }
  | { kind: 'stopped'; message: string };

export type AskJudge = (messages: ModelMessage[]) => Promise<JudgeReply>;

/** A judge's rating of a run, without the model's name and the time. */
export type Judged = Omit<RubricJudgement, 'v' | 'time' | 'model'>;

const maxTries = 3;
const fewestQuoted = 8;
/** Far more than the ratings need. */
const longestReply = 100_000;

/**
 * Asks a judge for its ratings once, and again with an explanation if its reply can't be parsed.
 * @returns null if no call was possible at all
 */
export async function judgeRun(transcript: RunTranscript, ask: AskJudge): Promise<Judged | null> {
  const shown = showRun(transcript);
  const messages = judgePrompt(shown);
  const judged: Judged = {
    ...{
      answered_by: null,
      prompt: sha256(JSON.stringify(messages)),
      tries: 1,
      ratings: null,
      problem: null,
    },
    ...{ tokens: { input: 0, output: 0 }, cost: 0 },
  };
  for (let tries = 1; tries <= maxTries; tries += 1) {
    const reply = await ask(messages);
    if (reply.kind === 'stopped') return tries === 1 ? null : { ...judged, problem: reply.message };
    count(judged, reply, tries);
    const reading = readRatings(reply.text, shown);
    if (reading.ok) return { ...judged, ratings: reading.ratings, problem: null };
    judged.problem = reading.problem;
    messages.push(
      { role: 'assistant', text: reply.text.slice(0, longestReply) },
      {
        role: 'user',
        text: `Your reply can't be used: ${reading.problem} Reply again with the JSON object alone.`,
      },
    );
  }
  return judged;
}

function count(judged: Judged, reply: Extract<JudgeReply, { kind: 'answered' }>, tries: number): void {
  judged.tries = tries;
  judged.answered_by = reply.answeredBy;
  judged.tokens.input += reply.tokens.input;
  judged.tokens.output += reply.tokens.output;
  judged.cost = judged.cost === null || reply.cost === null ? null : judged.cost + reply.cost;
}

type Reading = { ok: true; ratings: RubricRating[] } | { ok: false; problem: string };

const Reply = z.object({ ratings: z.array(RubricRating) });

function readRatings(text: string, shown: ShownRun): Reading {
  if (text.length > longestReply) return { ok: false, problem: 'It is far too long.' };
  const parsed = Reply.safeParse(objectIn(text));
  if (!parsed.success) return { ok: false, problem: `${z.prettifyError(parsed.error)}.` };
  const { ratings } = parsed.data;
  const names = ratings.map(({ question }) => question);
  const wrong = RubricQuestion.options.find((name) => names.filter((other) => other === name).length !== 1);
  if (wrong !== undefined) return { ok: false, problem: `"${wrong}" must have one rating.` };
  const unfounded = ratings.find((rating) => !isQuoted(rating, shown));
  if (unfounded === undefined) return { ok: true, ratings };
  const { question, step } = unfounded;
  const place = step === null ? 'the record' : `step ${step}`;
  return { ok: false, problem: `The quote for "${question}" does not stand in ${place}, or is too short.` };
}

/**
 * Parses the whole reply, alone or as one block of code. An object inside other text is ignored: it may come from the
 * run, asking for its own ratings.
 */
function objectIn(text: string): unknown {
  try {
    return parseShallowJson(/^```(?:json)?\n(.*)\n```$/s.exec(text.trim())?.[1] ?? text);
  } catch (error) {
    return messageOf(error);
  }
}

function isQuoted({ quote, step }: RubricRating, { steps, text }: ShownRun): boolean {
  const place = step === null ? text : (steps.get(step) ?? '');
  return plain(quote).length >= fewestQuoted && plain(place).includes(plain(quote));
}

/** Models normalise white space, quotation marks and escapes. */
function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/\\[nrt"]/g, ' ')
    .replace(/[\s"'“”‘’`*\\]+/g, ' ')
    .trim();
}
