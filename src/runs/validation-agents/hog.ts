import type { StepResult } from '../../environment/index.ts';
import { type AdversarialActions, adversarialAgent, firstLine } from './adversarial-agent.ts';
import { survivorsProbe } from './host-processes.ts';

/** The resources that `python/validation-agents/hog.py` can use up. */
const kinds = [
  'memory',
  'memory-of-many',
  'workspace',
  'temporary',
  'shared',
  'one-file',
  'sparse',
  'fork-bomb',
  'shell-bomb',
  'threads',
  'descriptors',
  'output',
  'time',
];

export const hog = adversarialAgent({
  name: 'hog',
  summary: 'fills memory, disk, the process table, open files, output and time; the run must survive each',
  limits: { memory_mb: 512, processes: 64, workspace_mb: 64, script_seconds: 5 },
  prepare({ token }) {
    return {
      async act(actions) {
        await actions.submitNonsense();
        await actions.bring('hog.py', {});
        for (const kind of kinds) await useUp(actions, kind, token);
      },
      probe: () => [survivorsProbe(token)],
    };
  },
});

async function useUp(actions: AdversarialActions, kind: string, token: string): Promise<void> {
  await actions.doomedCommand(`python hog.py ${token} ${kind}`, stoppedByLimit);
  await goesOn(actions, kind);
}

function stoppedByLimit({ status, observation }: StepResult): string | null {
  const limits = ['timed_out', 'out_of_memory', 'workspace_full', 'failed'];
  if (!limits.includes(status)) return null;
  return `${status}: ${firstLine(observation.trimEnd().split('\n').at(-1) ?? '').replaceAll(/^\[|\]$/g, '')}`;
}

async function goesOn(actions: AdversarialActions, kind: string): Promise<void> {
  await actions.act('Run Command', { command: 'rm -f fill-* large sparse core*' });
  await actions.attempt(
    `end the run by it: ${kind}`,
    ['Run Command', { command: 'echo still here' }],
    ({ status, observation }) =>
      status === 'ok' && observation.startsWith('still here')
        ? { outcome: 'stopped', because: 'the next step worked' }
        : {
            outcome: 'got_through',
            because: `the next step did not work: ${status}, ${firstLine(observation)}`,
          },
  );
}
