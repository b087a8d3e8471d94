import type { SearchResult, TextRef, TraceEvent } from '../../schema/index.ts';
import { stepEvents } from '../trace/read-events.ts';
import { hasTail, shownSteps } from '../trace/trace-table.ts';
import { yielder } from '../yielder.ts';
import type { ShownTexts } from './shown-texts.ts';
import type { TracedRun } from './step-page.ts';

type Hit = SearchResult['hits'][number];

const maxHits = 200;
const excerptLength = 80;

/** Searches the texts of steps from a given one on, for a limited time; returns where to continue. */
export async function searchSteps(
  { path, table }: TracedRun,
  texts: ShownTexts,
  query: string,
  from: number,
  signal?: AbortSignal,
  forMs = 1000,
): Promise<SearchResult> {
  const until = performance.now() + forMs;
  const yieldTurn = yielder();
  const pattern = patternOf(query);
  const last = shownSteps(table) + (hasTail(table) ? 1 : 0);
  const hits: Hit[] = [];
  for (let step = Math.max(from, 1); step <= last; step++) {
    if (hits.length >= maxHits || performance.now() > until) return { query, hits, next: step };
    for await (const event of stepEvents(path, table, step, { signal })) {
      for (const [place, ref] of textsOf(event))
        hits.push(...hitsIn(step, place, readText(texts, ref), pattern));
    }
    await yieldTurn();
  }
  return { query, hits, next: null };
}

function textsOf(event: TraceEvent): [place: string, ref: TextRef][] {
  switch (event.kind) {
    case 'step_started':
      return [
        ['action', { text: event.action }],
        ['arguments', event.args],
      ];
    case 'action_decided':
      return event.replacement === undefined
        ? []
        : [
            ['replacement', { text: event.replacement.action }],
            ['replacement', event.replacement.args],
          ];
    case 'step_finished':
      return [
        ['observation', event.observation],
        ...(event.inner ?? []).map(({ observation }): [string, TextRef] => [
          'inner observation',
          observation,
        ]),
      ];
    case 'note':
      return Object.entries(event.entries).map(([name, ref]) => [`entry ${name}`, ref]);
    case 'model_call':
      return event.answer === null ? [] : [['answer', event.answer]];
    case 'run_ended':
      return event.final_answer === null ? [] : [['final answer', event.final_answer]];
    default:
      return [];
  }
}

/** Arguments and answers are JSON: strings in them are searched unescaped. */
function readText(texts: ShownTexts, ref: TextRef): string {
  const read = texts.read(ref);
  if ('unreadable' in read) return '';
  if (!/^\s*[{[]/.test(read.text)) return read.text;
  try {
    return textsIn(JSON.parse(read.text)).join('\n');
  } catch {
    return read.text;
  }
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [String(value)];
  return Object.values(value).flatMap(textsIn);
}

function hitsIn(step: number, place: string, text: string, pattern: RegExp): Hit[] {
  const [first, ...more] = text.matchAll(pattern);
  if (first === undefined) return [];
  const end = first.index + first[0].length;
  return [
    {
      ...{ step, place, count: more.length + 1 },
      before: text.slice(Math.max(0, first.index - excerptLength), first.index).toWellFormed(),
      match: first[0].toWellFormed(),
      after: text.slice(end, end + excerptLength).toWellFormed(),
    },
  ];
}

/** The words literally, ignoring case. */
function patternOf(query: string): RegExp {
  return new RegExp(query.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'giu');
}
