import { UserError } from '../../lib/errors.ts';
import { anyAgentOfRun, type RunReplay, replayRun } from '../../runs/index.ts';
import { loadTask } from '../../tasks/index.ts';
import { agentPlace } from '../agent-options.ts';
import { exitCodes } from '../context.ts';
import { locateRuns, runsArgument } from '../locate.ts';
import { counted, oneLine } from '../table.ts';
import type { Verb } from '../verb.ts';

export const runsReplay: Verb = {
  onlyReads: true,
  arguments: [runsArgument],
  flags: [],
  details:
    'Runs the agent again with the recorded answers, without network, keys or sandbox. Its model calls and actions must be\n' +
    'those that were recorded; otherwise the first difference is printed. Calls made by actions are neither repeated nor counted.',
  negative: 'a replay differs from what was recorded',
  examples: [['mlab runs replay start-1', 'all runs of an experiment']],
  async run(context, given) {
    const runs = locateRuns(context, given, { withBranches: true });
    const recordedOnly: string[] = [];
    const replays: (RunReplay & { caveat: string | null })[] = [];
    for (const { experiment, folder } of runs) {
      context.signal.throwIfAborted();
      const spec = experiment.specOf(folder.id);
      if (spec === null || folder.readRecord() === null) continue;
      const agent = await anyAgentOfRun(spec, agentPlace(context, spec));
      if (agent.program !== undefined || agent.ledFromOutside) {
        if (runs.length === 1) throw notReplayed(spec.agent);
        recordedOnly.push(spec.id);
        continue;
      }
      const task = loadTask(spec.task, context.folders.tasks);
      const caveat = task.version === spec.task_version ? null : 'the task has changed since then';
      replays.push({ ...(await replayRun(spec, folder, agent, task, context.signal)), caveat });
    }
    const diverged = replays.filter((replay) => replay.diverged !== null);
    const lines = replays.map(({ run, steps, calls, diverged: where, caveat }) => {
      const head = `${where === null ? '✓' : '✗'} ${run}: ${counted(steps, 'step')}, ${counted(calls, 'model call')} by the agent itself`;
      const details = [where, caveat].flatMap((text) =>
        text === null ? [] : [`\n    ${oneLine(text, 600)}`],
      );
      return `${head}${details.join('')}`;
    });
    return {
      text: [
        ...lines,
        ...recordedOnly.map((run) => `- ${run}: not replayed: its agent is an external program`),
        `${counted(replays.length, 'run')} replayed, ${diverged.length} diverged.`,
      ].join('\n'),
      json: { runs: replays, recorded_only: recordedOnly },
      exitCode: diverged.length > 0 ? exitCodes.negative : exitCodes.ok,
    };
  },
};

function notReplayed(agent: string): UserError {
  return new UserError(
    'not_replayed',
    `Runs of the agent ${agent} can't be replayed: it is an external program, which may behave differently each time.`,
    'Use mlab runs show for what it did, and mlab runs calls for its model calls.',
  );
}
