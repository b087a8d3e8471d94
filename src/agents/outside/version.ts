import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
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
      for (const file of filesOf(path))
        hash
          .update(`${name}${file.slice(path.length)}\0`)
          .update(readFileSync(file))
          .update('\0');
    } catch {
      throw new UserError(
        'no_file',
        `${path} can't be read.`,
        'The command of the agent or its option files names it: put it back.',
      );
    }
  }
  return `sha256:${hash.digest('hex').slice(0, 16)}`;
}

/** A file, or the files below a folder, without what Python compiled. */
function filesOf(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.pyc'))
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort();
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
