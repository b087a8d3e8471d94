import { existsSync } from 'node:fs';
import type { ObjectId } from '../../schema/index.ts';
import { checkRun } from '../../store/index.ts';
import { exitCodes } from '../context.ts';
import { locateRuns, runsArgument } from '../locate.ts';
import { counted, oneLine } from '../table.ts';
import type { Verb } from '../verb.ts';

export const runsCheck: Verb = {
  onlyReads: true,
  arguments: [runsArgument],
  flags: [],
  details: 'Checks the hash chain of the trace, every event, and every object that a run refers to.',
  negative: 'a run has a problem',
  examples: [['mlab runs check start-1', 'all runs of an experiment']],
  async run(context, given) {
    const verified = new Set<ObjectId>();
    const results = [];
    for (const { folder } of locateRuns(context, given, { withBranches: true })) {
      if (!existsSync(folder.recordPath)) continue;
      results.push({
        run: folder.id,
        problems: await checkRun(folder, { verified, signal: context.signal }),
      });
    }
    const broken = results.filter(({ problems }) => problems.length > 0);
    const lines = results.map(({ run, problems }) =>
      problems.length === 0
        ? `✓ ${run}`
        : `✗ ${run}\n${problems.map(({ message }) => `    ${oneLine(message, 500)}`).join('\n')}`,
    );
    return {
      text: `${lines.join('\n')}\n${counted(results.length, 'run')} checked, ${broken.length} with problems.`,
      json: { runs: results },
      exitCode: broken.length > 0 ? exitCodes.negative : exitCodes.ok,
    };
  },
};
