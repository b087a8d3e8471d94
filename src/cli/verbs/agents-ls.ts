import { type Agent, agentByName, agents } from '../../agents/index.ts';
import { UserError } from '../../lib/errors.ts';
import { ensureBundle, findAnyAgent, knownBundle } from '../../runs/index.ts';
import { ExperimentFile } from '../../schema/index.ts';
import { agentPlace } from '../agent-options.ts';
import type { Context } from '../context.ts';
import { table } from '../table.ts';
import type { Verb } from '../verb.ts';

interface Options {
  install?: string[];
}

const Place = ExperimentFile.pick({ sandbox: true, docker_image: true }).strip();

/** The state of an agent's external program on this machine. */
interface Installed {
  package: string;
  version: string;
  licence: string;
  ready: boolean;
  /** The command that installs it; null if it is installed. */
  command: string | null;
  /** Why it can't be installed here; null if it can. */
  missing: string | null;
}

export const agentsLs: Verb = {
  arguments: [
    { name: '[agents...]', description: 'names, files of your own or packages; default: all agents of mlab' },
  ],
  flags: [
    {
      flags: '--install <names>',
      description: 'install these agent programs now; otherwise the first run that needs one installs it',
      many: 'commas',
    },
  ],
  details:
    'Set options with --agent-option name=value or in an experiment file. External agent programs are installed into the\n' +
    'cache folder, which sandboxes see read-only; docs/agents describes each of them.',
  examples: [
    ['mlab agents', 'one line per agent'],
    ['mlab agents tree', 'an agent with its options'],
    ['mlab agents ./climber.py', 'load an agent of your own, and show its options or what is wrong with it'],
    ['mlab agents --install codex,opencode', 'install two agent programs'],
  ],
  async run(context, names, { install = [] }: Options) {
    for (const name of install) await installAgent(context, agentByName(name));
    const chosen = names.length === 0 ? agents : await loaded(context, names);
    const states = new Map<string, Installed>();
    for (const agent of chosen) {
      const state = await stateOf(context, agent);
      if (state !== null) states.set(agent.name, state);
    }
    const isList = names.length === 0;
    const shown = (isList ? [] : chosen).map(({ name, version, summary, needs, options }) => {
      const need = needs.model ? ' Needs a language model (--model).' : '';
      const lines = Object.entries(options).map(
        ([option, { description, default: value }]) =>
          `    ${option} (${typeof value}, default ${JSON.stringify(value)}): ${description}`,
      );
      const title = version === undefined ? name : `${name} ${version}`;
      return [`${title}: ${summary}${need}`, ...stateLines(states.get(name)), ...lines].join('\n');
    });
    const json = chosen.map(({ name, version, summary, needs, options }) => {
      const program = states.get(name);
      return {
        name,
        ...(version === undefined ? {} : { version }),
        summary,
        needs,
        options,
        ...(program === undefined ? {} : { program }),
      };
    });
    return { text: isList ? listOf(context, chosen, states) : shown.join('\n\n'), json: { agents: json } };
  },
};

/** One line per agent. */
function listOf({ command }: Context, all: readonly Agent[], states: ReadonlyMap<string, Installed>): string {
  const rows = all.map(({ name, summary, needs }) => {
    const state = states.get(name);
    return [name, needs.model ? 'model' : '', state && !state.ready ? 'no' : 'yes', summary];
  });
  const columns = ['agent', 'needs', 'installed', 'what it is'].map((title) => ({ title }));
  return `${table(columns, rows)}\n\nOptions and packages: ${command} agents NAME`;
}

/** @throws UserError with what is wrong with the first that can't be loaded */
async function loaded(context: Context, names: readonly string[]): Promise<Agent[]> {
  const { sandbox, docker_image } = Place.parse(context.settings.run);
  const place = agentPlace(context, { sandbox, docker_image });
  const found: Agent[] = [];
  for (const name of names) found.push((await findAnyAgent(name, process.cwd(), place)).agent);
  return found;
}

function stateLines(state: Installed | undefined): string[] {
  if (state === undefined) return [];
  const { package: name, version, licence, command, missing } = state;
  const what = `    ${name} ${version} (${licence})`;
  if (missing !== null) return [`${what}: not installed; ${missing}`];
  return [command === null ? `${what}: installed` : `${what}: not installed; ${command}`];
}

/** Null for agents of this package, and others that need no installation. */
async function stateOf({ folders, command }: Context, { name, program }: Agent): Promise<Installed | null> {
  const wanted = program?.package ?? null;
  if (program === undefined || wanted === null) return null;
  const bundle = await knownBundle(wanted, wanted.version, folders.cache).catch(whyNot);
  const isReady = bundle !== null && !('missing' in bundle);
  return {
    ...{ package: `${wanted.registry}:${wanted.name}`, version: wanted.version, licence: program.licence },
    ready: isReady,
    command: isReady ? null : `${command} agents --install ${name}`,
    missing: bundle !== null && 'missing' in bundle ? bundle.missing : null,
  };
}

function whyNot(error: unknown): { missing: string } {
  if (!UserError.isInstance(error)) throw error;
  return { missing: `${error.message}. ${error.hint}` };
}

async function installAgent({ folders, log, signal }: Context, { name, program }: Agent): Promise<void> {
  const wanted = program?.package ?? null;
  if (wanted === null) {
    throw new UserError(
      'nothing_to_install',
      `The agent ${name} needs no installation.`,
      'Leave it out of --install.',
    );
  }
  const onProgress = (line: string) => log(`${name}: ${line}`);
  await ensureBundle(wanted, wanted.version, { cache: folders.cache, onProgress, signal });
}
