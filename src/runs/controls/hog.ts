import type { StepResult } from '../../environment/index.ts';
import { type CheatersHand, cheater, firstLine } from './cheater.ts';
import { survivorsProbe } from './host-processes.ts';

/** What `python/controls/hog.py` knows to use up. */
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

export const hog = cheater({
  name: 'hog',
  summary:
    'fills memory, disk, the process table, open files, output and time; the run must go on after each',
  limits: { memory_mb: 512, processes: 64, workspace_mb: 64, script_seconds: 5 },
  prepare({ token }) {
    return {
      async act(hand) {
        await hand.handInNonsense();
        await hand.bring('hog.py', {});
        for (const kind of kinds) await useUp(hand, kind, token);
      },
      probe: () => [survivorsProbe(token)],
    };
  },
});

async function useUp(hand: CheatersHand, kind: string, token: string): Promise<void> {
  await hand.doomedCommand(`python hog.py ${token} ${kind}`, stoppedByLimit);
  await goesOn(hand, kind);
}

function stoppedByLimit({ status, observation }: StepResult): string | null {
  const limits = ['timed_out', 'out_of_memory', 'workspace_full', 'failed'];
  if (!limits.includes(status)) return null;
  return `${status}: ${firstLine(observation.trimEnd().split('\n').at(-1) ?? '').replaceAll(/^\[|\]$/g, '')}`;
}

async function goesOn(hand: CheatersHand, kind: string): Promise<void> {
  await hand.act('Run Command', { command: 'rm -f fill-* large sparse core*' });
  await hand.attempt(
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
