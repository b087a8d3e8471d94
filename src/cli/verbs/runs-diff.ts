import { styleText } from 'node:util';
import { UserError } from '../../lib/errors.ts';
import { diffSnapshots, type PathDifference } from '../../store/index.ts';
import { locateRun, stepArgument } from '../locate.ts';
import { snapshotOfStep } from '../run-steps.ts';
import { plain } from '../table.ts';
import type { Verb } from '../verb.ts';

const mostLines = 60;

export const runsDiff: Verb = {
  onlyReads: true,
  arguments: [
    stepArgument,
    { name: '[from]', description: 'a step; default: 0, the starter; of RUN@STEP the step before' },
    { name: '[to]', description: 'a later step; default: last; of RUN@STEP that step' },
  ],
  flags: [{ flags: '--full', description: `all lines; without it at most ${mostLines} per file` }],
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
    const differences = await diffSnapshots(folder.objects, before.snapshot, after.snapshot, context.signal);
    const text =
      differences.length === 0
        ? 'Nothing changed.'
        : differences
            .map((difference) =>
              differenceText(difference, options.full ? Number.POSITIVE_INFINITY : mostLines),
            )
            .join('\n');
    return { text, json: { run: folder.id, from: before.number, to: after.number, differences } };
  },
};

function differenceText(difference: PathDifference, most: number): string {
  const head = styleText('bold', `${difference.kind}: ${plain(difference.path)}`);
  if (difference.as !== 'text') return `${head} (${difference.as.replaceAll('_', ' ')})`;
  const lines = plain(difference.patch).trimEnd().split('\n');
  const more =
    lines.length > most ? [styleText('dim', `… ${lines.length - most} more lines; --full shows them`)] : [];
  return [head, ...lines.slice(0, most).map(coloured), ...more].join('\n');
}

function coloured(line: string): string {
  if (line.startsWith('+')) return styleText('green', line);
  if (line.startsWith('-')) return styleText('red', line);
  return line.startsWith('@@') ? styleText('cyan', line) : line;
}
