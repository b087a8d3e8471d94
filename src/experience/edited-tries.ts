import { plainLine } from '../lib/plain-line.ts';
import type { ScoringReference } from '../schema/index.ts';
import {
  isExecution,
  ObservedNumbers,
  type RunTranscript,
  type TranscriptStep,
  validationReadings,
} from '../statistics/index.ts';
import type { Steps, Try } from './try.ts';

/** A gain below this share of the score does not count, whatever the noise. */
const minShare = 0.001;

/** Edits that no execution has measured yet. */
interface Pending {
  before: number;
  words: string[];
  /** Its failure is reported already; the repair belongs to the same try. */
  hasFailed: boolean;
}

/** The best version so far by the script's own metric, with the sign chosen so that higher is better. */
interface Best extends Steps {
  value: number;
}

/**
 * The tries of an agent without fixed notes: edits of scripts up to the execution that prints the metric, or that
 * fails. The noise is the spread of the starter's score over seeds, if the run's grade has it, and at least 0.1 % of
 * the score.
 */
export function triesOfEdits(transcript: RunTranscript, scoringReference: ScoringReference | null): Try[] {
  const readings = new Map(
    validationReadings(transcript, new ObservedNumbers(), scoringReference).map(({ step, value }) => [
      step,
      value,
    ]),
  );
  const tries: Try[] = [];
  let pending: Pending | null = null;
  let best: Best | null = null;
  let before = 0;
  for (const step of transcript.steps) {
    if (step.action === 'Undo Edit Script') pending = null;
    else if (!isExecution(step.action) && changesScript(step)) {
      pending = { ...(pending ?? { before, hasFailed: false, words: [] }) };
      pending.words = [...pending.words, wordsOf(step)];
    }
    if (isExecution(step.action)) {
      const value = step.status === 'ok' ? (readings.get(step.step) ?? null) : null;
      const hasFailed = step.status === 'failed' || step.status === 'timed_out';
      if (pending !== null && (value !== null || (hasFailed && !pending.hasFailed))) {
        tries.push(tryOf(pending, step, value, best, scoringReference));
      }
      const from: number = pending?.before ?? before;
      if (value !== null && (best === null || value > best.value))
        best = { before: from, last: step.step, value };
      if (pending !== null)
        pending = value === null ? { ...pending, hasFailed: pending.hasFailed || hasFailed } : null;
    }
    before = step.step;
  }
  return tries;
}

function tryOf(
  { before, words }: Pending,
  step: TranscriptStep,
  value: number | null,
  best: Best | null,
  scoringReference: ScoringReference | null,
): Try {
  const noise =
    best === null ? null : Math.max(scoringReference?.baseline.spread ?? 0, Math.abs(best.value) * minShare);
  const gain = value === null || best === null ? null : value - best.value;
  const outcome =
    value === null ? 'failed' : gain === null ? 'unclear' : gain > (noise ?? 0) ? 'better' : 'not_better';
  return {
    before,
    last: step.step,
    change: { kind: 'edit', text: plainLine([...new Set(words)].join(' / '), 300) },
    outcome,
    gain,
    noise: noise === 0 ? null : noise,
    failure: value === null ? failureOf(step) : null,
    best: best ?? { before: 0, last: 0 },
  };
}

function changesScript({ changed, status }: TranscriptStep): boolean {
  return status === 'ok' && changed.some((path) => /\.(?:py|ipynb|sh)$/.test(path));
}

/** What an agent wrote besides its action, the most informative entries first. */
const informative = [
  'Thought',
  'thoughts',
  'text',
  'reasoning',
  'Reflection',
  'plan',
  'Research Plan and Status',
];

/** The purpose of an edit, shortened. */
function wordsOf({ args, entries, action }: TranscriptStep): string {
  const asked = args.edit_instruction;
  if (typeof asked === 'string' && asked.trim() !== '') return plainLine(asked, 200);
  const texts = informative.flatMap((name) => (Object.hasOwn(entries, name) ? [entries[name] ?? ''] : []));
  return plainLine(texts.find((text) => text.trim() !== '') ?? action, 200);
}

/** The last line that a failed script printed: in Python, that is the error. */
function failureOf({ observation, status }: TranscriptStep): string {
  const lines = observation.split('\n').filter((line) => line.trim() !== '' && !/^\[.*\]$/.test(line.trim()));
  return lines.at(-1) ?? status;
}
