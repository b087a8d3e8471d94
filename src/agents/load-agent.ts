import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { z } from 'zod';
import { messageOf, UserError } from '../lib/errors.ts';
import { sha256 } from '../lib/hash.ts';
import type { AgentOptions, AgentSource, RunSpec } from '../schema/index.ts';
import type { Agent } from './agent.ts';
import { agentByName, agents } from './agents.ts';
import { withDefaults } from './common/options.ts';
import { importedBy, packageEntry, watchImports } from './loaded-modules.ts';
import { commandOptions } from './outside/command.ts';
import { packageVersion } from './package-version.ts';

export interface FoundAgent {
  agent: Agent;
  /** Absent: it is part of this package. */
  source?: AgentSource;
  /** The options that its name contains; only for a command. */
  options?: AgentOptions;
}

/** An agent and its command: `command:python my_agent.py`. */
const commandName = /^(command|acp):(.*)$/s;
/** An agent's description of itself, in any language. */
export const AgentDescription = z.object({
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,40}$/, 'only lower-case letters, digits and -, at most 41'),
  summary: z.string().min(1),
  version: z
    .string()
    .regex(/^[\w.+-]{1,40}$/, 'at most 40 letters, digits, ., +, - or _')
    .optional(),
  needs: z.object({
    model: z.boolean(),
    reference: z.literal(false, 'no agent but oracle sees the solution'),
  }),
  options: z.record(
    z.string(),
    z.object({ description: z.string(), default: z.union([z.string(), z.number(), z.boolean()]) }),
  ),
});
export type AgentDescription = z.infer<typeof AgentDescription>;

/** The parts of a module's agent that are checked; what it does with its context only shows when it runs. */
const AgentShape = AgentDescription.extend({
  run: z.custom<Agent['run']>((value) => typeof value === 'function', 'a function'),
});

/**
 * The agent with this name, a command (`command:python my_agent.py`, or `acp:…`), or the one that a module exports:
 * `./my-agent.ts`, or a package that is installed below `folder`. A module is the user's code, which runs in this
 * process.
 * @throws UserError
 */
export async function findAgent(name: string, folder: string): Promise<FoundAgent> {
  const [, agent, command] = commandName.exec(name) ?? [];
  if (agent !== undefined && command !== undefined)
    return { agent: agentByName(agent), options: commandOptions(agent, command, folder) };
  if (agents.some((agent) => agent.name === name)) return { agent: agentByName(name) };
  const path = isPath(name) ? resolve(folder, name) : packageEntry(name, folder);
  if (path === null) return { agent: agentByName(name, folder) };
  if (!existsSync(path)) {
    throw new UserError(
      'agent_not_found',
      `There is no file ${path}.`,
      'Give the path of a module that exports an agent.',
    );
  }
  return await load(realpathSync(path));
}

/**
 * The agent of a planned run.
 * @param find loads it
 * @throws UserError `agent_changed` if its source is not the one that was planned
 */
export async function agentOfRun(
  run: Pick<RunSpec, 'agent' | 'agent_source'>,
  find = findAgent,
): Promise<Agent> {
  const planned = run.agent_source;
  if (planned === undefined) return agentByName(run.agent);
  const { agent, source } = await find(planned.path, '/');
  if (agent.name === run.agent && source?.sha256 === planned.sha256) return agent;
  throw new UserError(
    'agent_changed',
    `The agent ${run.agent} has changed since the run was planned: ${planned.path}, or something it imports.`,
    'Undo the change to resume the run, or start a new experiment with --name.',
  );
}

/**
 * The options with which an agent runs: for all that were not given, the defaults that it declares. mlab's own agents
 * get what was given alone, since a profile has defaults of its own.
 */
export function optionsFor(agent: Agent, given: AgentOptions): AgentOptions {
  return agents.some(({ name }) => name === agent.name) ? given : withDefaults(agent, given);
}

function isPath(name: string): boolean {
  return isAbsolute(name) || /^\.{1,2}\//.test(name) || /\.[cm]?[jt]s$/.test(name);
}

async function load(path: string): Promise<FoundAgent> {
  watchImports();
  const agent = checked(await imported(path), path);
  const name = packageVersion(path);
  const source = { path, sha256: hashOf(path), ...(name === undefined ? {} : { package: name }) };
  return { agent, source: { ...source, ...versionOf(agent) } };
}

/** The version that an agent gives itself, for its source. */
export function versionOf({ version }: Pick<Agent, 'version'>): Pick<AgentSource, 'version'> {
  return version === undefined ? {} : { version };
}

async function imported(path: string): Promise<Record<string, unknown>> {
  try {
    return await import(pathToFileURL(path).href);
  } catch (error) {
    throw new UserError(
      'agent_not_loaded',
      `${path} can't be loaded: ${messageOf(error)}`,
      'Try to run it with node. Only erasable TypeScript works: no enums, no parameter properties.',
      { cause: error },
    );
  }
}

function checked({ default: exported, agent = exported }: Record<string, unknown>, path: string): Agent {
  if (agent === undefined) {
    throw new UserError(
      'no_agent',
      `${path} exports no agent.`,
      'Export one as default: { name, summary, needs, options, run }. docs/how-to/write-an-agent.md has a complete example.',
    );
  }
  const read = AgentShape.safeParse(agent, { reportInput: true });
  if (!read.success) {
    throw new UserError(
      'bad_agent',
      `${path} exports no valid agent: ${descriptionProblems(read.error)}`,
      'docs/how-to/write-an-agent.md describes what an agent must export.',
    );
  }
  refuseTakenName(read.data, path);
  // Other properties of the agent, such as a class's fields, are not checked.
  return agent as Agent;
}

/**
 * What is wrong with a description: `name "My_Agent": only lower-case letters, …`.
 * @param error of a parse with `reportInput`
 */
export function descriptionProblems({ issues }: z.ZodError): string {
  return issues
    .map(({ path, message, input }) => {
      const shown = typeof input === 'string' ? ` ${JSON.stringify(input.slice(0, 100))}` : '';
      return `${path.join('.')}${shown}: ${message}`;
    })
    .join('; ');
}

export function refuseTakenName({ name: given }: AgentDescription, path: string): void {
  if (!agents.some(({ name }) => name === given)) return;
  throw new UserError(
    'agent_name_taken',
    `The agent in ${path} has the name ${given}, which a built-in agent has, too.`,
    'Give it another name.',
  );
}

/**
 * Hashes the module and all its imports, except this package and Node's own modules, with their paths relative to the
 * module.
 */
function hashOf(path: string): string {
  const own = dirname(import.meta.dirname);
  const files = importedBy(path)
    .map((url) => fileURLToPath(url))
    .filter((file) => !file.startsWith(`${own}/`))
    .map((file) => [relative(dirname(path), file), sha256(readFileSync(file))] as const);
  return sha256(JSON.stringify(files.toSorted(([one], [other]) => (one < other ? -1 : 1))));
}
