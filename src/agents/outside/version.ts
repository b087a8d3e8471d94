import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { UserError } from '../../lib/errors.ts';
import type { AgentOptions } from '../../schema/index.ts';
import type { Agent } from '../agent.ts';

/**
 * Identifies a state of a program: the version of its package, or a hash of its files. Undefined for an agent of this
 * package.
 */
export function programVersion({ program }: Agent, options: AgentOptions): string | undefined {
  if (program === undefined) return undefined;
  if (program.package !== null) return String(options.version ?? program.package.version);
  const hash = createHash('sha256');
  for (const [name, path] of Object.entries(program.hostFiles?.(options) ?? {})) {
    try {
      hash.update(`${name}\0`).update(readFileSync(path)).update('\0');
    } catch {
      throw new UserError(
        'no_file',
        `${path} can't be read.`,
        'The command of the agent names it: put it back.',
      );
    }
  }
  return `sha256:${hash.digest('hex').slice(0, 16)}`;
}

/** @throws UserError if a program has changed since its run was planned */
export function refuseChangedProgram(agent: Agent, options: AgentOptions, planned: string | undefined): void {
  if (planned === undefined || programVersion(agent, options) === planned) return;
  throw new UserError(
    'agent_changed',
    `The files of the agent ${agent.name} have changed since this experiment was planned.`,
    'Start a new experiment (--name), or bring the old files back.',
  );
}
