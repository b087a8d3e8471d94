import { agentOfRun } from '../../agents/index.ts';
import { type RunReplay, replayRun } from '../../runs/index.ts';
import { loadTask } from '../../tasks/index.ts';
import { exitCodes } from '../context.ts';
import { locateRuns } from '../locate.ts';
import { counted, oneLine } from '../table.ts';
import type { Verb } from '../verb.ts';

export const runsReplay: Verb = {
  onlyReads: true,
  arguments: [{ name: '<run>', description: 'EXPERIMENT/RUN, or an experiment for all its runs' }],
  flags: [],
  details:
    'Runs the agent again from the trace alone, with no network, no key and no sandbox: what it asks its models and which\n' +
    'actions it takes must be what was recorded. Where it is not, the first difference is shown.',
  examples: [['mlab runs replay start-1', 'all runs of an experiment']],
  async run(context, [given = '']) {
    const { experiment, folders } = locateRuns(context, given, { withBranches: true });
    const replays: (RunReplay & { remark: string | null })[] = [];
    for (const folder of folders) {
      context.signal.throwIfAborted();
      const spec = experiment.specOf(folder.id);
      if (spec === null || folder.readRecord() === null) continue;
      const task = loadTask(spec.task, context.folders.tasks);
      const remark = task.version === spec.task_version ? null : 'the task has changed since';
      replays.push({ ...(await replayRun(spec, folder, await agentOfRun(spec), task)), remark });
    }
    const diverged = replays.filter((replay) => replay.diverged !== null);
    const lines = replays.map(({ run, steps, calls, diverged: where, remark }) => {
      const head = `${where === null ? '✓' : '✗'} ${run}: ${steps} steps, ${calls} model calls`;
      const details = [where, remark].flatMap((text) =>
        text === null ? [] : [`\n    ${oneLine(text, 600)}`],
      );
      return `${head}${details.join('')}`;
    });
    return {
      text: `${lines.join('\n')}\n${counted(replays.length, 'run')} replayed, ${diverged.length} diverged.`,
      json: { runs: replays },
      exitCode: diverged.length > 0 ? exitCodes.negative : exitCodes.ok,
    };
  },
};
