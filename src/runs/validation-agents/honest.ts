import { type Agent, agentByName } from '../../agents/index.ts';
import { solutionFiles } from '../solution-files.ts';
import type { TaskResources } from '../workspace.ts';
import type { ValidationAgent } from './validation-agent.ts';

interface Honest {
  name: string;
  summary: string;
  expects: 'success' | 'no_success';
  agent: Agent;
  files: (resources: TaskResources) => ReadonlyMap<string, string> | null;
  fits?: (resources: TaskResources) => boolean;
  mustRun: (resources: TaskResources) => boolean;
}

function honest({
  name,
  summary,
  expects,
  agent,
  files,
  mustRun,
  fits = () => true,
}: Honest): ValidationAgent {
  return {
    ...{ name, summary, expects, limits: {}, graded: 'final', fits, mustRun },
    async stage({ resources }) {
      return {
        agent,
        reference: files(resources),
        attempts: () => [],
        probe: async () => [],
        async [Symbol.asyncDispose]() {},
      };
    },
  };
}

/**
 * A run that submits the trivial predictor of a task without one in its starter: its files are put in place like a
 * solution.
 */
export function constantAgent(): Agent {
  return { ...agentByName('oracle'), name: 'constant', summary: "Submits the task's trivial predictor." };
}

export const honestAgents: readonly ValidationAgent[] = [
  honest({
    name: 'oracle',
    summary: 'applies the reference solution: must succeed',
    expects: 'success',
    agent: agentByName('oracle'),
    files: ({ task }) => solutionFiles(task, 'solution'),
    mustRun: () => true,
  }),
  honest({
    name: 'noop',
    summary: 'does nothing: must not succeed',
    expects: 'no_success',
    agent: agentByName('noop'),
    files: () => null,
    mustRun: () => false,
  }),
  honest({
    name: 'baseline',
    summary: 'runs the starter: must not succeed',
    expects: 'no_success',
    agent: agentByName('baseline'),
    files: () => null,
    // A starter with a gap can't run as it is: then a trivial predictor is the baseline.
    mustRun: ({ task }) => task.file.baseline.method === 'starter',
  }),
  honest({
    name: 'constant',
    summary: 'submits the trivial predictor that is the baseline: must not succeed',
    expects: 'no_success',
    agent: constantAgent(),
    files: ({ task }) => solutionFiles(task, 'constant'),
    mustRun: () => true,
    fits: ({ task }) => task.file.baseline.method === 'constant',
  }),
];
