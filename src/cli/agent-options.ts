import {
  checkAgentOptions,
  commandFiles,
  commandWarnings,
  refuseMissingScript,
  requireCommand,
} from '../agents/index.ts';
import { UserError } from '../lib/errors.ts';
import { type AgentPlace, findAnyAgent, type PlannedAgent } from '../runs/index.ts';
import type { AgentOptions, ExperimentFile, RunSpec } from '../schema/index.ts';
import type { Context } from './context.ts';
import type { Flag } from './verb.ts';

export interface AgentFlags {
  agentOption?: string[];
  profile?: string;
}

/** Flags that set options of the agents. */
export const agentFlags: Flag[] = [
  {
    flags: '--agent-option <name=value>',
    description: 'set an option of the agents; mlab agents lists them',
    many: 'repeated',
  },
  { flags: '--profile <name>', description: 'the same as --agent-option profile=NAME' },
];

/**
 * The agents of an experiment with their options, from the file and from flags; flags win.
 * @param workspaces folders of the tasks' starter files, which commands may name: absolute paths
 */
export async function chosenAgents(
  wanted: ExperimentFile,
  flags: AgentFlags,
  place: AgentPlace,
  workspaces: readonly string[] = [],
): Promise<PlannedAgent[]> {
  const chosen: PlannedAgent[] = [];
  for (const entry of wanted.agents) {
    const { name, options: given } = typeof entry === 'string' ? { name: entry, options: {} } : entry;
    const found = await findAnyAgent(name, process.cwd(), place);
    if (found.agent.ledFromOutside) {
      throw new UserError(
        'not_served',
        `The agent ${name} is a client that connects to mlab.`,
        'Start or resume the run with mlab mcp: mlab mcp --task digits --name NAME',
      );
    }
    const set: AgentOptions = { ...given, ...agentOptions(found.agent, flags) };
    const options = { ...found.options, ...set };
    checkOptions(found.agent, options, { wanted, flags, name });
    if ('command' in found.agent.options && found.agent.program) {
      const command = String(options.command ?? '');
      requireCommand(found.agent.name, command);
      options.files = commandFiles(command, String(set.files ?? ''), process.cwd());
      refuseMissingScript(command, process.cwd(), options.files, workspaces);
      for (const warning of commandWarnings(command, process.cwd())) place.onProgress(warning);
    }
    chosen.push({ ...found, options });
  }
  return chosen;
}

/** Flags set the options of all agents, so one of them may lack an option that is meant for another. */
function checkOptions(
  agent: PlannedAgent['agent'],
  options: AgentOptions,
  { wanted, flags, name }: { wanted: ExperimentFile; flags: AgentFlags; name: string },
): void {
  try {
    checkAgentOptions(agent, options);
  } catch (error) {
    const names = wanted.agents.map((entry) => (typeof entry === 'string' ? entry : entry.name));
    const other = names.find((one) => one !== name);
    const given = flags.agentOption?.map((text) => text.replace('=', ': ')).join(', ');
    if (!UserError.isInstance(error) || other === undefined || given === undefined) throw error;
    throw new UserError(
      error.code,
      error.message,
      `${error.hint}. To give options to one agent only, use an experiment file: { name: ${other}, options: { ${given} } }`,
      { cause: error },
    );
  }
}

/** How agents that are processes are started, for verbs. */
export function agentPlace(
  { folders, variables, log, signal }: Context,
  { sandbox, docker_image: dockerImage }: Pick<RunSpec, 'sandbox' | 'docker_image'>,
  interpreter?: string,
): AgentPlace {
  return {
    ...{ cache: folders.cache, helpersFolder: folders.helpers, onProgress: log, signal },
    ...{ driver: sandbox, dockerImage, dockerCommand: variables.MLAB_DOCKER, interpreter },
  };
}

/** The options that flags give, parsed as the types that the agent expects. */
export function agentOptions(agent: PlannedAgent['agent'], flags: AgentFlags): AgentOptions {
  const given = [
    ...(flags.agentOption ?? []),
    ...(flags.profile === undefined ? [] : [`profile=${flags.profile}`]),
  ];
  return Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf('=');
      if (at < 1)
        throw new UserError(
          'bad_flag',
          `--agent-option ${text}: expected name=value.`,
          'For example: --agent-option steps_in_context=5',
        );
      const name = text.slice(0, at);
      const option = Object.hasOwn(agent.options, name) ? agent.options[name] : undefined;
      return [name, typedValue(text.slice(at + 1), typeof option?.default)];
    }),
  );
}

/** Text that can't be parsed as the type stays text, so that the check of the options reports what is wrong with it. */
function typedValue(text: string, type: string): string | number | boolean {
  if (type === 'number' && text.trim() !== '' && Number.isFinite(Number(text))) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
