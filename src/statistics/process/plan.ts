import type { ProcessMetrics } from '../../schema/index.ts';
import type { RunTranscript } from './run-transcript.ts';

/**
 * The entry in which an agent maintains its plan from turn to turn. A list of only the next steps, like AutoGPT's, does
 * not count.
 */
const planEntry = 'Research Plan and Status';

interface PlanItem {
  /** Without markers, in lower case. */
  text: string;
  words: ReadonlySet<string>;
  isDone: boolean;
  /** Whether it is in the newest version of the plan. */
  isListed: boolean;
}

/** What happened to the items of the agent's plan. */
export function planMetrics(transcript: RunTranscript): ProcessMetrics['plan'] {
  const texts = [...transcript.steps.map(({ entries }) => entries), transcript.lastEntries].flatMap(
    (entries) => entries[planEntry] ?? [],
  );
  const items: PlanItem[] = [];
  for (const text of texts) {
    const listed = versionOf(text);
    // A reply that left its plan out, or cut it off, drops nothing.
    if (listed.length === 0) continue;
    for (const item of items) item.isListed = false;
    for (const item of listed) {
      const known = items.find((candidate) => isSame(candidate, item));
      if (known === undefined) items.push(item);
      else Object.assign(known, item, { isDone: known.isDone || item.isDone });
    }
  }
  return {
    kept: texts.length > 0,
    declared: items.length,
    done: items.filter(({ isDone }) => isDone).length,
    dropped: items.filter(({ isDone, isListed }) => !isDone && !isListed).length,
  };
}

const longestItem = 1000;
const listMark = /^\s*(?:[-+*•]\s+|\(?(?<number>\d{1,2})[.):]\s+|step (?<step>\d{1,2})\s*[:.]\s*)+/i;
/** Below such a heading is the state of the items, not the items. */
const statusHeading = /\b(?:status|progress|results?|findings|notes?|facts?)\b[^:]*:[\s*]*(?:none\.?)?$/i;
const done =
  /(?:^|[.:([—–-]\s*)(?:done|completed|finished)\b|[.:([—–-]\s*complete\b|\b(?:done|completed|finished)[.)\]!\s]*$|[✓✔✅☑]|\[x\]/i;
const notDone = /\b(?:not|yet to be|to be|isn't|wasn't|never)\b[^.]*\b(?:done|completed?|finished)\b/i;
const state =
  /(?:^|[.:([—–,-])?\s*\(?\b(?:not (?:yet )?(?:started|done|completed)|done|completed|finished|in progress|ongoing|pending|to ?do|under way)\b.*$|[✓✔✅☑]|\[[ x]\]/i;

/** The items of one version of a plan. */
function versionOf(plan: string): PlanItem[] {
  const items: (PlanItem & { number: string | null })[] = [];
  let inStatus = false;
  for (const whole of plan.replaceAll('**', '').split('\n')) {
    const raw = whole.slice(0, longestItem);
    const mark = listMark.exec(raw);
    const line = raw.slice(mark?.[0].length ?? 0).trim();
    if (line.endsWith(':') || statusHeading.test(line)) {
      inStatus = statusHeading.test(line);
      continue;
    }
    if (mark === null || line === '') continue;
    const number = mark.groups?.step ?? mark.groups?.number ?? null;
    const isDone = done.test(line) && !notDone.test(line);
    if (inStatus) {
      const meant = items.find((item) => number !== null && item.number === number);
      if (meant !== undefined && isDone) meant.isDone = true;
      continue;
    }
    const text = textOf(line);
    if (text !== '') items.push({ text, words: new Set(text.split(' ')), number, isDone, isListed: true });
  }
  return items;
}

function textOf(line: string): string {
  const plain = line.replace(state, '') || line;
  return plain
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** The same words, a continued text, or most words in common. */
function isSame(left: PlanItem, right: PlanItem): boolean {
  if (left.text === right.text) return true;
  const [short, long] = left.text.length < right.text.length ? [left, right] : [right, left];
  if (short.words.size >= 3 && long.text.startsWith(`${short.text} `)) return true;
  const common = [...short.words].filter((word) => long.words.has(word)).length;
  return common / (short.words.size + long.words.size - common) >= 0.6;
}
