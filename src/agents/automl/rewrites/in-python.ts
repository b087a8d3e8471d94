import { z } from 'zod';
import type { Workspace } from '../../common/workspace.ts';
import { pythonPart, pythonScript, type Setting } from '../model-writing/python-file.ts';
import { filesIn, joined } from '../script-files.ts';
import type { Rewrite } from './rewrite.ts';

/** A Python program that finds rewrites. It runs as a step, in the environment with the script's own packages. */
export interface PythonRewriter {
  /** Why it is asked, for the notes: a sentence. */
  reason: string;
  /** Its files in `python/automl`, without `.py`: `offers` comes first. */
  parts: readonly string[];
  /** Settings of these files, besides those of `offers`. */
  settings?: Readonly<Record<string, Setting>>;
  /** A generator function in one of them that takes the script's files (text by path) and yields offers. */
  find: string;
  /** It stops after this many seconds, and earlier if less time is left. */
  seconds: number;
}

/** If the metric is a time: runs the script, and looks for faster versions of its slowest functions. */
export const fasterFunctions: PythonRewriter = {
  reason: 'Run once, the script shows which functions take long, and what faster versions of them must give.',
  parts: [
    'offers',
    ...['trees', 'record', 'prove', 'pure', 'tables', 'plain', 'unfold', 'expressions', 'arrays', 'find'].map(
      (name) => `speed/${name}`,
    ),
  ],
  settings: { HELPERS: pythonPart('speed/helpers') },
  find: 'find',
  seconds: 120,
};

/** The output of `python/automl/offers.py`. */
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
type Edit = z.infer<typeof Answer>['offers'][number]['edits'][number];

const program = 'find_rewrites.py';
const mark = 'OFFERS ';
/** To ask (2), to try one rewrite (5), and to end (4). */
const minSteps = 11;
const minSeconds = 5;
/** Share of the remaining time. */
const largestShare = 0.4;

/** The program's offers for a script. Takes two steps; no offers if too little is left or the program fails. */
export async function offersFromPython(
  workspace: Workspace,
  { reason, parts, settings, find, seconds }: PythonRewriter,
  source: string,
): Promise<Rewrite[]> {
  const { entry } = workspace.task;
  const { steps_left, seconds_left } = workspace.budget;
  const most = Math.floor(Math.min(seconds, largestShare * seconds_left));
  if (steps_left < minSteps || most < minSeconds || workspace.ended) return [];
  workspace.note({ Reason: reason });
  const files = filesIn(source, entry);
  const given = { ENTRY: entry, SCRIPTS: [...files], MOST_SECONDS: most, ...settings };
  await workspace.writeFile(program, pythonScript(parts, given, `tell(${find})`));
  const { observation } = await workspace.executeScript(program);
  return readOffers(observation).map(({ edits, ...offer }) => ({
    ...offer,
    source: joined(new Map([...files].map(([path, text]) => [path, edited(text, edits, path)])), entry),
  }));
}

/** The offers in the program's output; none if it is truncated. */
export function readOffers(printed: string): z.infer<typeof Answer>['offers'] {
  const line = printed.split('\n').findLast((each) => each.startsWith(mark));
  try {
    return Answer.safeParse(JSON.parse(line?.slice(mark.length) ?? '')).data?.offers ?? [];
  } catch {
    // Truncated in the middle, or not JSON at all.
    return [];
  }
}

/** A file with those of the edits that belong to it. */
export function edited(text: string, edits: readonly Edit[], path: string): string {
  const lines = text.split('\n');
  const own = edits.filter((edit) => edit.path === path);
  for (const edit of own.toReversed()) lines.splice(edit.first, edit.end - edit.first, ...edit.lines);
  return lines.join('\n');
}
