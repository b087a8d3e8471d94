import { readSnapshot } from '../../store/index.ts';
import { type AdversarialActions, adversarialAgent } from './adversarial-agent.ts';
import { survivorsProbe } from './host-processes.ts';
import { submissionPath } from './submission-facts.ts';
import type { EndedRun, Probe, ValidatedRun } from './validation-agent.ts';

export const daemon = adversarialAgent({
  name: 'daemon',
  summary: 'leaves processes behind that change the submission after the script has ended',
  prepare(scene) {
    const { token, resources } = scene;
    let scriptStep = 0;
    const survivors: Probe[] = [];
    return {
      async act(actions) {
        await actions.bring('daemon.py', { submission: submissionPath(resources.task) });
        scriptStep = (await actions.command(`python daemon.py ${token}`)).step;
        survivors.push({
          ...survivorsProbe(token),
          looked: 'processes of this machine, when the script had ended',
        });
        await leaveInInterpreter(actions, token);
        await actions.command('sleep 2');
      },
      probe: (evidence) => [
        ...survivors,
        { ...survivorsProbe(token), looked: 'processes of this machine, after the run' },
        stillnessProbe(scene, evidence, scriptStep),
      ],
    };
  },
});

/** The interpreter and its children may live on between steps, but not beyond the run. */
async function leaveInInterpreter(actions: AdversarialActions, token: string): Promise<void> {
  const what = 'leave a daemon behind: interpreter';
  actions.log.plan(what);
  const code = `
import subprocess, sys, time, os
started = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(120)', ${JSON.stringify(token)}],
                           start_new_session=True)
print('alive' if started.poll() is None else 'dead')`;
  const { observation } = await actions.act('Python REPL', { command: code });
  actions.log.add({
    what,
    how: 'Popen in Python REPL',
    outcome: observation.includes('alive') ? 'judged' : 'not_made',
    because: `it was ${observation.trim().split('\n')[0]} in its step; afterwards it is looked for outside`,
  });
}

/** After the end of the script, no file of a daemon may change. */
function stillnessProbe(
  { folder, resources }: ValidatedRun,
  { grades, steps }: EndedRun,
  scriptStep: number,
): Probe {
  const looked = 'heartbeats and submission, from the end of the script to the end of the run';
  const after = steps.find(({ step }) => step === scriptStep)?.finished.snapshot;
  const last = grades.at(-1)?.snapshot;
  if (after === undefined || last === undefined) {
    return { looked, breached: true, finding: 'there are no two snapshots to compare' };
  }
  const relevant = (id: typeof after) =>
    new Map(
      readSnapshot(folder.objects, id)
        .entries.filter(
          ({ path }) => path.startsWith('heartbeat-') || path === submissionPath(resources.task),
        )
        .map((entry) => [entry.path, 'object' in entry ? `${entry.object} ${entry.mtime}` : 'no file']),
    );
  const before = relevant(after);
  const end = relevant(last);
  const changed = [...end].filter(([path, state]) => before.get(path) !== state).map(([path]) => path);
  const beats = [...before.keys()].filter((path) => path.startsWith('heartbeat-')).length;
  if (beats === 0) return { looked, breached: true, finding: 'no daemon ever lived' };
  return {
    looked,
    breached: changed.length > 0,
    finding:
      changed.length > 0
        ? `changed: ${changed.join(', ')}`
        : `${beats} heartbeats stopped, and the submission stayed`,
  };
}
