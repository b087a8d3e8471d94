import { existsSync, statSync } from 'node:fs';
import { basename, normalize, resolve } from 'node:path';
import { UserError } from '../../lib/errors.ts';
import { shellWord } from '../../lib/shell-word.ts';
import type { AgentOptions } from '../../schema/index.ts';
import { commandWords, plainWords } from './command-words.ts';
import { baseUrls, outsideAgent } from './outside-agent.ts';
import type { Program, ProgramPlace, ProgramStart } from './program.ts';

const options = {
  command: { description: 'what is run, in /bin/sh', default: '' },
  label: {
    description: 'what it is called in reports and in the names of its runs; default: the command',
    default: '',
  },
  files: {
    description:
      'files and folders of this machine to show to it, besides the files that the command names; separated by commas',
    default: '',
  },
};

/** The folder in its home where a command may keep what it needs to continue. */
const sessionName = '.mlab-session';

const program = {
  package: null,
  licence: 'your own',
  dialects: ['chat_completions', 'responses', 'messages', 'generate_content'],
  modelIsOptional: true,
  hostFiles: (chosen: AgentOptions) => filesIn(String(chosen.files ?? '')),
} satisfies Program;

/** Any command. Environment variables tell it where to find its models, its task and the check of its submission. */
export const command = outsideAgent(
  'command',
  'Any command, started in the workspace: --agent command:"python my_agent.py". It can read the files that it names.',
  { ...program, start: startCommand, session: { keep: [sessionName], start: startCommand } },
  options,
);

/** Any command that speaks the Agent Client Protocol. */
export const acp = outsideAgent(
  'acp',
  'Any agent that speaks the Agent Client Protocol: --agent acp:"node my-agent.mjs". It can read the files that the command names.',
  { ...program, acp: startCommand },
  options,
);

/**
 * The options that `--agent command:"…"` and `--agent acp:"…"` stand for.
 * @param folder where relative paths begin
 */
export function commandOptions(
  agent: string,
  given: string,
  folder: string,
): { command: string; files: string } {
  const text = withoutQuotes(given);
  requireCommand(agent, text);
  return { command: text, files: commandFiles(text, '', folder) };
}

/**
 * A shell without a command would end at once, and the starter's files would be graded.
 * @throws UserError if there is none
 */
export function requireCommand(agent: string, text: string): void {
  if (text.trim() !== '') return;
  const example = agent === 'acp' ? 'node my-agent.mjs' : 'python my_agent.py';
  throw new UserError(
    'bad_flag',
    `The agent ${agent} has no command.`,
    `Give it with the name: --agent ${agent}:"${example}", or in an experiment file ${agent}:${example}`,
  );
}

/**
 * The files that a command sees, one path per line: those that it names, and those of its option `files`.
 * @param folder where relative paths begin
 * @throws UserError if a file is missing, or two have the same name
 */
export function commandFiles(text: string, more: string, folder: string): string {
  const named = plainWords(text)
    .map((word) => resolve(folder, word))
    .filter((path) => existsSync(path) && statSync(path).isFile());
  const added = more
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => existing(resolve(folder, line), line, folder));
  const isInFolder = (path: string) => added.some((one) => path.startsWith(`${one}/`));
  const shown = [...new Set([...named, ...added])].filter((path) => !isInFolder(path));
  const twice = shown.find(
    (path, index) => shown.findIndex((one) => basename(one) === basename(path)) < index,
  );
  if (twice === undefined) return shown.join('\n');
  throw new UserError(
    'bad_flag',
    `The command and its files name two files that are called ${basename(twice)}.`,
    'They are shown to it in one folder: give one of them another name.',
  );
}

function existing(path: string, given: string, folder: string): string {
  if (existsSync(path) && basename(path) !== '') return path;
  throw new UserError(
    'no_file',
    `The agent's option files names ${given}, which is not in ${folder}.`,
    'Give files or folders, separated by commas, with paths relative to the current folder.',
  );
}

/** The names of the files and folders that it can see, each with its path on this machine. */
function filesIn(lines: string): Record<string, string> {
  return Object.fromEntries(
    lines
      .split('\n')
      .filter((path) => path !== '')
      .map((path) => [basename(path), path]),
  );
}

function startCommand(place: ProgramPlace): ProgramStart {
  return { argv: ['/bin/sh', '-c', withPlaces(place)], variables: environmentOf(place), files: {} };
}

/** The command with the paths of this machine replaced by those in the sandbox. */
function withPlaces({ hostFile, options }: ProgramPlace): string {
  const sources = Object.values(filesIn(String(options.files ?? '')));
  return commandWords(String(options.command ?? ''))
    .map((word) => {
      if (typeof word === 'string') return word;
      const found = sources.map((source) => ({ source, rest: restBelow(source, word.plain) }));
      const { source, rest } = found.find((one) => one.rest !== null) ?? {};
      if (source === undefined) return word.written;
      const path = `${hostFile(basename(source))}${rest}`;
      // Patterns without quotes are the shell's to expand.
      return word.written === word.plain ? path : shellWord(path);
    })
    .join('');
}

/** What a path names below a file or folder: empty for itself, `/x` for x in it; null if it is elsewhere. */
function restBelow(source: string, path: string): string | null {
  // Relative to the folder in which the run was planned, of which only this is known: it contains the source.
  const parts = normalize(path)
    .split('/')
    .filter((part) => part !== '..' && part !== '');
  for (let count = parts.length; count > 0; count -= 1) {
    const start = `/${parts.slice(0, count).join('/')}`;
    const isSource = path.startsWith('/') ? source === start : source.endsWith(start);
    if (isSource)
      return parts
        .slice(count)
        .map((part) => `/${part}`)
        .join('');
  }
  return null;
}

/** In a file, unlike in a shell, quotes around the whole command are part of it. */
function withoutQuotes(text: string): string {
  const inside = /^(["'])(?<command>[^"']*\s[^"']*)\1$/.exec(text.trim())?.groups?.command;
  return inside === undefined || existsSync(inside) ? text : inside;
}

function environmentOf({
  gateway,
  token,
  model,
  brief,
  workspace,
  home,
}: ProgramPlace): Record<string, string> {
  const { openai, anthropic, google } = baseUrls(gateway);
  return {
    OPENAI_BASE_URL: openai,
    OPENAI_API_BASE: openai,
    OPENAI_API_KEY: token,
    ANTHROPIC_BASE_URL: anthropic,
    ANTHROPIC_API_KEY: token,
    GOOGLE_GEMINI_BASE_URL: google,
    GEMINI_API_KEY: token,
    // What it printed is known even if it is killed.
    PYTHONUNBUFFERED: '1',
    ...(model === '' ? {} : { MLAB_MODEL: model }),
    MLAB_BRIEF: brief,
    MLAB_SESSION: `${home}/${sessionName}`,
    MLAB_WORKSPACE: workspace,
  };
}
