import { z } from 'zod';
import type { Workspace } from '../../common/workspace.ts';
import { pythonPart, pythonScript } from '../model-writing/python-file.ts';
import { filesIn, joined } from '../script-files.ts';
import type { Rewrite } from './rewrite.ts';

/** A line of the output of `python/automl/offers.py`. */
const Answer = z.object({
  offers: z.array(
    z.object({
      name: z.string().min(1),
      change: z.string(),
      reason: z.string(),
      weight: z.number().min(0).max(1),
      effort: z.number().positive(),
      isProven: z.boolean(),
      edits: z
        .array(
          z.object({
            path: z.string(),
            first: z.int().nonnegative().describe('the first line that is replaced, from 0'),
            end: z.int().nonnegative().describe('the first line that is not'),
            lines: z.array(z.string()),
          }),
        )
        .describe('in the order of the lines'),
    }),
  ),
});

const program = 'find_rewrites.py';
const mark = 'OFFERS ';
/** To ask (2), to try one rewrite (5), and to end (4). */
const minSteps = 11;
const minSeconds = 5;
const maxSeconds = 120;
/** Share of the remaining time. */
const largestShare = 0.4;

/**
 * If the metric is a time: a Python program runs the script as a step, with the script's own packages, and looks for
 * faster versions of its slowest functions. No offers if too little is left or the program fails.
 */
export async function fasterFunctions(workspace: Workspace, source: string): Promise<Rewrite[]> {
  const { entry } = workspace.task;
  const { steps_left, seconds_left } = workspace.budget;
  const seconds = Math.floor(Math.min(maxSeconds, largestShare * seconds_left));
  if (steps_left < minSteps || seconds < minSeconds || workspace.ended) return [];
  workspace.note({
    Reason:
      'Run once, the script shows which functions take long, and what faster versions of them must give.',
  });
  await workspace.writeFile(program, findingScript(filesIn(source, entry), entry, seconds));
  const { observation } = await workspace.executeScript(program);
  return readOffers(observation, source, entry);
}

/** @param find a generator function that takes the script's files (text by path) and yields offers */
export function findingScript(
  files: ReadonlyMap<string, string>,
  entry: string,
  seconds: number,
  find = 'find',
): string {
  const names = [
    'trees',
    'record',
    'prove',
    'pure',
    'tables',
    'elements',
    'kept',
    'matches',
    'members',
    'roots',
    'plain',
    'unfold',
    'expressions',
    'arrays',
    'find',
  ];
  return pythonScript(
    ['offers', ...names.map((name) => `speed/${name}`)],
    {
      ENTRY: entry,
      SCRIPTS: [...files],
      MOST_SECONDS: seconds,
      HELPERS: pythonPart('speed/helpers'),
    },
    `tell(${find})`,
  );
}

/** The offers in the program's output; none if it is truncated. */
export function readOffers(printed: string, source: string, entry: string): Rewrite[] {
  const line = printed.split('\n').findLast((each) => each.startsWith(mark));
  try {
    const { offers } = Answer.parse(JSON.parse(line?.slice(mark.length) ?? ''));
    return offers.map(({ edits, ...offer }) => {
      const files = new Map([...filesIn(source, entry)].map(([path, text]) => [path, text.split('\n')]));
      for (const { path, first, end, lines } of edits.toReversed())
        files.get(path)?.splice(first, end - first, ...lines);
      const texts = new Map([...files].map(([path, lines]) => [path, lines.join('\n')]));
      return { ...offer, source: joined(texts, entry) };
    });
  } catch {
    // Truncated in the middle, or not JSON at all.
    return [];
  }
}
