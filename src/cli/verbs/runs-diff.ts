import { styleText } from 'node:util';
import { diffSnapshots, type PathDifference } from '../../store/index.ts';
import { locateRun } from '../locate.ts';
import { snapshotOfStep } from '../run-steps.ts';
import { plain } from '../table.ts';
import type { Verb } from '../verb.ts';

const mostLines = 60;

export const runsDiff: Verb = {
  onlyReads: true,
  arguments: [
    { name: '<run>', description: 'EXPERIMENT/RUN' },
    { name: '<from>', description: 'number of a step, 0 for the starter' },
    { name: '<to>', description: 'number of a later step, or "last"' },
  ],
  flags: [{ flags: '--full', description: `every line; without it at most ${mostLines} of each file` }],
  examples: [
    ['mlab runs diff start-1/digits-automl-0 3 7', 'what changed between the steps 3 and 7'],
    ['mlab runs diff start-1/digits-automl-0 0 last', 'everything the agent changed'],
  ],
  async run(context, [given = '', from = '', to = ''], options: { full?: boolean }) {
    const { folder } = locateRun(context, given);
    const before = snapshotOfStep(folder, from);
    const after = snapshotOfStep(folder, to);
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
    lines.length > most ? [styleText('dim', `… ${lines.length - most} lines more; --full shows them`)] : [];
  return [head, ...lines.slice(0, most).map(coloured), ...more].join('\n');
}

function coloured(line: string): string {
  if (line.startsWith('+')) return styleText('green', line);
  if (line.startsWith('-')) return styleText('red', line);
  return line.startsWith('@@') ? styleText('cyan', line) : line;
}
