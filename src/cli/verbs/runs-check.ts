import { existsSync } from 'node:fs';
import type { ObjectId } from '../../schema/index.ts';
import { checkRun, type RunFolder } from '../../store/index.ts';
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
    const verified = new Map<ObjectId, number>();
    const results = [];
    const located = locateRuns(context, given, { withBranches: true });
    for (const { experiment, folder } of located) {
      if (!hasBegun(folder)) continue;
      const problems = existsSync(folder.recordPath)
        ? await checkRun(folder, { verified, signal: context.signal })
        : [withoutRecord(folder)];
      results.push({ experiment: experiment.name, run: folder.id, problems });
    }
    const broken = results.filter(({ problems }) => problems.length > 0);
    const lines = results.map(({ experiment, run, problems }) =>
      problems.length === 0
        ? `✓ ${experiment}/${run}`
        : `✗ ${experiment}/${run}\n${problems.map(({ message }) => `    ${oneLine(message, 500)}`).join('\n')}`,
    );
    const others = located.length - results.length;
    const waiting = others === 0 ? '' : ` ${counted(others, 'run')} not begun.`;
    return {
      text: `${lines.join('\n')}\n${counted(results.length, 'run')} checked, ${broken.length} with problems.${waiting}`,
      json: { runs: results },
      exitCode: broken.length > 0 ? exitCodes.negative : exitCodes.ok,
    };
  },
};

function hasBegun(run: RunFolder): boolean {
  return existsSync(run.recordPath) || (existsSync(run.folder) && run.holder() === null);
}

function withoutRecord({ recordPath }: RunFolder) {
  const message = `${recordPath} is missing: the same mlab run command makes it again from the trace, if that is there`;
  return { code: 'broken_file' as const, where: recordPath, message };
}
