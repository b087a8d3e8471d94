import { isDeepStrictEqual, styleText } from 'node:util';
import { UserError } from '../../lib/errors.ts';
import { diffSnapshots, type PathDifference } from '../../store/index.ts';
import { locateRun, stepArgument } from '../locate.ts';
import { snapshotOfStep } from '../run-steps.ts';
import { plain } from '../table.ts';
import type { Verb } from '../verb.ts';

const maxLines = 60;
const maxRows = 6;

export const runsDiff: Verb = {
  onlyReads: true,
  arguments: [
    stepArgument,
    { name: '[from]', description: 'a step; default: 0 (the starter), or with RUN@STEP the step before it' },
    { name: '[to]', description: 'a later step; default: last, or with RUN@STEP that step' },
  ],
  flags: [{ flags: '--full', description: `all lines; without it at most ${maxLines} per file` }],
  examples: [
    ['mlab runs diff start-1/digits-automl-0 3 7', 'what changed between steps 3 and 7'],
    ['mlab runs diff start-1/digits-automl-0', 'everything the agent changed'],
    ['mlab runs diff start-1/digits-automl-0@3', 'what step 3 changed'],
  ],
  async run(context, [given = '', from, to], options: { full?: boolean }) {
    const { folder, step } = locateRun(context, given, { withSteps: true });
    const end = step === null ? null : snapshotOfStep(folder, step);
    if (end !== null && from !== undefined)
      throw new UserError(
        'bad_argument',
        `${given} already names a step.`,
        'Give the run without a step, then two steps.',
      );
    const before = snapshotOfStep(folder, from ?? String(Math.max(0, (end?.number ?? 0) - 1)));
    const after = end ?? snapshotOfStep(folder, to ?? 'last');
    if (after.number < before.number)
      throw new UserError(
        'bad_argument',
        `Step ${after.number} is earlier than step ${before.number}.`,
        `Give the earlier step first: ${before.number > 0 ? `${after.number} ${before.number}` : after.number}.`,
      );
    const differences = await diffSnapshots(folder.objects, before.snapshot, after.snapshot, context.signal);
    const texts = codeFirst(differences).map((difference) =>
      differenceText(difference, options.full ? Number.POSITIVE_INFINITY : maxLinesOf(difference)),
    );
    const unkept = after.skipped.filter(
      (entry) => !before.skipped.some((one) => isDeepStrictEqual(one, entry)),
    );
    const text = [...texts, ...unkept.map(unkeptText)].join('\n') || 'Nothing changed.';
    const json = { run: folder.id, from: before.number, to: after.number, differences };
    return { text, json: { ...json, ...(unkept.length === 0 ? {} : { not_kept: unkept }) } };
  },
};

const isTable = ({ path }: PathDifference) => /\.(?:csv|tsv|jsonl|log)$/i.test(path);

/** What people look for first: the code, and data after it. */
function codeFirst(differences: readonly PathDifference[]): PathDifference[] {
  const rank = (difference: PathDifference) => {
    if (difference.as !== 'text') return 2;
    return isTable(difference) ? 1 : 0;
  };
  return differences.toSorted((one, other) => rank(one) - rank(other));
}

/** Rows of data say little: the first few show what they are. */
function maxLinesOf(difference: PathDifference): number {
  return isTable(difference) ? maxRows : maxLines;
}

function differenceText(difference: PathDifference, most: number): string {
  const head = styleText('bold', `${difference.kind}: ${plain(difference.path)}`);
  if (difference.as !== 'text') return `${head} (${difference.as.replaceAll('_', ' ')})`;
  const lines = plain(difference.patch).trimEnd().split('\n');
  const more =
    lines.length > most ? [styleText('dim', `… ${lines.length - most} more lines; --full shows them`)] : [];
  return [head, ...lines.slice(0, most).map(coloured), ...more].join('\n');
}

/** Of what is in no snapshot, only its kind is known. */
function unkeptText({ path, reason }: { path: string; reason: string }): string {
  return styleText('bold', `not kept: ${plain(path)} (${reason.replaceAll('_', ' ')})`);
}

function coloured(line: string): string {
  if (line.startsWith('+')) return styleText('green', line);
  if (line.startsWith('-')) return styleText('red', line);
  return line.startsWith('@@') ? styleText('cyan', line) : line;
}
