import { plainLine } from '../lib/plain-line.ts';
import { ExperienceChange, type ExperienceOutcome } from '../schema/index.ts';
import type { RunTranscript } from '../statistics/index.ts';
import type { Steps, Try } from './try.ts';

const numeral = String.raw`-?\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?`;
const numberChange = new RegExp(
  String.raw`^([^→]{1,100}): (${numeral}) → (${numeral}) \(line \d+(?: of [\w.-]+)?\)\.?$`,
);
const prediction = new RegExp(` from (${numeral}) by more than (${numeral})`);
const notedGain = new RegExp(String.raw`\bgain of (${numeral})`);

/** A different seed teaches nothing about another task. */
const luck = /^every seed raised by \d+, and nothing else/;

type Entries = Readonly<Record<string, string>>;

/** A try whose end is not noted yet. */
interface Begun {
  before: number;
  change: ExperienceChange;
  from: number | null;
  noise: number | null;
}

/**
 * The tries of an agent that notes `Change` and `Prediction` before each and `Observed` and `Decision` after it. A note
 * is stored with the following step, so the end of a try is beside the beginning of the next one.
 */
export function triesOfNotes({ steps, lastEntries }: RunTranscript): Try[] {
  const tries: Try[] = [];
  let begun: Begun | null = null;
  let best: Steps = { before: 0, last: 0 };
  let before = 0;
  let keptFrom: number | null = null;
  for (const { entries, step } of [...steps, { entries: lastEntries, step: Infinity }]) {
    if (begun !== null && entries.Decision !== undefined) {
      const ended = endOf(begun, entries.Decision, entries.Observed ?? '', {
        before: begun.before,
        last: before,
      });
      tries.push({ ...ended, best });
      if (ended.outcome === 'better') best = { before: ended.before, last: ended.last };
      keptFrom = begun.from;
      begun = null;
    }
    const isTry = entries.Change !== undefined && !luck.test(entries.Change);
    const next = isTry ? beginningOf(entries, entries.Change ?? '', before) : null;
    if (next !== null) {
      fillGain(tries.at(-1), keptFrom, next.from);
      if (tries.length === 0) best = { before: 0, last: before };
      begun = next;
    }
    before = step;
  }
  return tries;
}

function beginningOf(entries: Entries, changed: string, before: number): Begun {
  const [, from = '', noise = ''] = prediction.exec(entries.Prediction ?? '') ?? [];
  const change = namedChange(entries, changed) ?? changeOf(changed);
  return { before, change, from: numberOf(from), noise: positive(numberOf(noise)) };
}

/** A rewrite or a model, by the name in its note; the name is also in the text, for readers. */
function namedChange(entries: Entries, changed: string): ExperienceChange | null {
  const kind = entries.Rewrite === undefined ? 'model' : 'rewrite';
  const name = plainLine((kind === 'model' ? entries.Model : entries.Rewrite) ?? '', 100);
  const text = plainLine(`${name} – ${changed}`, 300);
  return ExperienceChange.safeParse({ kind, name, text }).data ?? null;
}

function changeOf(text: string): ExperienceChange {
  const line = plainLine(text, 300);
  const [, name = '', from = '', to = ''] = numberChange.exec(line) ?? [];
  const change = { kind: 'number', name, from: numberOf(from), to: numberOf(to), text: line };
  // Anything other than a change of a number is described in the agent's words.
  return ExperienceChange.safeParse(change).data ?? { kind: 'edit', text: line };
}

function endOf(begun: Begun, decision: string, observed: string, steps: Steps): Omit<Try, 'best'> {
  const { change, noise } = begun;
  const known = { ...steps, change, noise };
  const words = decision.split('\n\n')[0] ?? '';
  if (/^only its place among others/i.test(words))
    return { ...known, outcome: 'unclear', gain: null, failure: null };
  const isFailure = /failure|not accepted|no score/i.test(words);
  if (isFailure) return { ...known, outcome: 'failed', gain: null, failure: observed || words };
  const [, noted = ''] = notedGain.exec(words) ?? [];
  const gain = /did not change/.test(words) ? 0 : numberOf(noted);
  const isKept = /\bkept\b/i.test(words) && !/\bnot kept\b/i.test(words);
  const outcome: ExperienceOutcome = isKept ? 'better' : 'not_better';
  return { ...known, outcome, gain, failure: null };
}

/** The next try starts from the result of a change that was kept; its gain is noted nowhere else. */
function fillGain(last: Try | undefined, from: number | null, to: number | null): void {
  if (last?.outcome !== 'better' || last.gain !== null || from === null || to === null) return;
  last.gain = Math.abs(to - from);
}

function numberOf(text: string): number | null {
  const value = text === '' ? NaN : Number(text.replaceAll('_', ''));
  return Number.isFinite(value) ? value : null;
}

function positive(value: number | null): number | null {
  return value !== null && value > 0 ? value : null;
}
