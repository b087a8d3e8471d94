import { Command, Help, Option } from 'commander';
import type { GlobalOptions } from './context.ts';
import { logLevels } from './logger.ts';
import { oneOf } from './one-of.ts';
import { type Flag, severalWords, type Verb } from './verb.ts';
import { commandGroups, type VerbEntry, verbs } from './verbs.ts';

/** The command line without its verbs: the flags of every command, and the help. */
export function createProgram(version: string, asJson: boolean): Command {
  const program = new Command('mlab');
  program
    .description('Measure how well AI agents do machine-learning research.')
    .version(version)
    .option('--dir <folder>', 'folder of the experiments (default: $MLAB_EXPERIMENTS or ./experiments)')
    .option(
      '--task-dir <folder>',
      'another folder with tasks (besides ./tasks); may be repeated',
      (folder: string, before: string[] | undefined) => [...(before ?? []), folder],
    )
    .addOption(new Option('--tasks <folder>').hideHelp())
    .on('option:tasks', (folder: string) => {
      process.stderr.write('mlab: --tasks is called --task-dir now.\n');
      program.setOptionValue('taskDir', [...(program.opts<GlobalOptions>().taskDir ?? []), folder]);
    })
    .option('--json', 'print one JSON document to standard output')
    .option('-q, --quiet', 'print only results and errors, no progress')
    .option('-v, --verbose', 'print every step and model call of runs, and stack traces of errors')
    .addOption(
      new Option(
        '--log-level <level>',
        'write a log as JSON lines to standard error (see $MLAB_LOG)',
      ).choices(logLevels),
    )
    .exitOverride()
    // Errors are printed in one place, for people and for programs.
    .configureOutput({
      outputError: () => {},
      // The help of a group that is called without a command.
      writeErr: (text) => void (asJson ? process.stderr : process.stdout).write(text),
    })
    .configureHelp({
      // Without a value, a flag has its default: once is enough.
      optionDescription: (option) =>
        new Help().optionDescription(option).replace(/ \(default: (.*), preset: \1\)/, ' (default: $1)'),
    })
    .addHelpText(
      'after',
      '\nExample:\n  mlab run --suite starter --agent automl --seeds 2\n\nEvery command has --help with examples.',
    );
  return program;
}

/** Adds every verb by name and summary, and the called one with its arguments, flags and help. */
export async function addVerbs(
  program: Command,
  argv: readonly string[],
  act: (verb: Verb, args: string[], options: object) => Promise<void>,
): Promise<void> {
  const words = argv.filter((word) => !word.startsWith('-'));
  for (const { heading, entry } of byGroup()) {
    const [first = '', second] = entry.name.split(' ');
    program.commandsGroup(heading);
    const group = second === undefined ? program : groupOf(program, first);
    const command = group
      .command(second ?? first)
      .summary(entry.summary)
      .description(`${capital(entry.summary)}.`);
    const isCalled = words.includes(first) && (second === undefined || words.includes(second));
    if (isCalled) await defineVerb(command, entry, act);
  }
  program.helpCommand(true);
}

/** Turns `mlab help runs show` into `mlab runs show --help`, whatever global flags come before it. */
export function helpLast(argv: string[]): string[] {
  const valued = ['--dir', '--task-dir', '--tasks', '--log-level'];
  const at = argv.findIndex(
    (word, index) => !word.startsWith('-') && !valued.includes(argv[index - 1] ?? ''),
  );
  const asked = argv.slice(at + 1);
  if (argv[at] !== 'help' || asked.length === 0) return argv;
  const isKnown = verbs.some(({ name }) => `${name} `.startsWith(`${asked.join(' ')} `));
  // An unknown command is reported as such, rather than answered with the help of another.
  return [...argv.slice(0, at), ...asked, ...(isKnown ? ['--help'] : [])];
}

/** The command that is called, or the group in which one was called that does not exist, to point to its help. */
export function calledBy(argv: readonly string[]): string {
  const words = argv.filter((word) => !word.startsWith('-'));
  const called = verbs.find(({ name }) => {
    const [first = '', second] = name.split(' ');
    return words.includes(first) && (second === undefined || words.includes(second));
  });
  if (called !== undefined) return `mlab ${called.name}`;
  const group = words.find((word) => verbs.some(({ name }) => name.startsWith(`${word} `)));
  return group === undefined ? '' : `mlab ${group}`;
}

/** Every verb, in the order of the help. */
function byGroup(): { heading: string; entry: VerbEntry }[] {
  return Object.entries(commandGroups).flatMap(([group, names]) =>
    names.flatMap((name) =>
      verbs
        .filter((entry) => entry.name.split(' ')[0] === name)
        .map((entry) => ({ heading: `${group}:`, entry })),
    ),
  );
}

function groupOf(program: Command, name: string): Command {
  const known = program.commands.find((command) => command.name() === name);
  if (known !== undefined) return known;
  const members = verbs
    .filter((entry) => entry.name.startsWith(`${name} `))
    .map((entry) => entry.name.split(' ')[1]);
  return program
    .command(name)
    .summary(`${members.join(', ')}`)
    .description(`Commands: ${members.join(', ')}.`);
}

async function defineVerb(
  command: Command,
  entry: VerbEntry,
  act: (verb: Verb, args: string[], options: object) => Promise<void>,
): Promise<void> {
  const verb = await entry.load();
  for (const { name, description } of verb.arguments) command.argument(name, description);
  for (const flag of verb.flags) {
    command.addOption(optionOf(flag));
    if (flag.formerly !== undefined) acceptFormerName(command, flag, flag.formerly);
  }
  const global = '\nGlobal options (--dir, --task-dir, --json, --quiet, …): see mlab --help\n';
  const examples = verb.examples.map(([line, meaning]) => `  ${line}\n      ${meaning}`);
  const details = verb.details === undefined ? '' : `\n${verb.details}\n`;
  const negative = verb.negative === undefined ? '' : `\nExit code 1: ${verb.negative}.\n`;
  command.addHelpText('after', `${global}${details}${negative}\nExamples:\n${examples.join('\n')}`);
  command.action(async () => act(verb, command.args, command.opts()));
}

function optionOf(flag: Flag, calledNow?: string): Option {
  const several = flag.many === undefined ? '' : ` (${severalWords[flag.many]})`;
  const option = new Option(flag.flags, `${flag.description}${several}`);
  if (flag.default !== undefined) option.default(flag.default);
  // Given without a value, it has its default.
  if (flag.default !== undefined && option.optional) option.preset(flag.default);
  const long = calledNow ?? option.long ?? flag.flags;
  const { choices, parse = parserOf(choices) } = flag;
  const many = flag.many ?? (option.variadic ? 'repeated' : undefined);
  if (many !== undefined) {
    const partsOf = (text: string) =>
      many === 'commas' ? text.split(',').filter((part) => part !== '') : [text];
    option.argParser((text: string, before: unknown[] | undefined) => [
      ...(before ?? []),
      ...partsOf(text).map((part) => parse(part, long)),
    ]);
  } else {
    option.argParser((text: string) => parse(text, long));
  }
  return option;
}

function parserOf(choices: readonly string[] | undefined): (text: string, flag: string) => unknown {
  return choices === undefined ? (text) => text : (text, flag) => oneOf(flag, choices, text);
}

function acceptFormerName(command: Command, flag: Flag, name: string): void {
  const { default: _, ...nameless } = flag;
  const current = optionOf(flag);
  const spelling = flag.flags.replace(/^--[\w-]+/, name);
  const former = optionOf(
    { ...nameless, flags: spelling },
    `${name} is called ${current.long} now. ${current.long}`,
  );
  command.addOption(former.hideHelp());
  command.on(`option:${former.name()}`, () => {
    process.stderr.write(`mlab: ${name} is called ${current.long} now.\n`);
    command.setOptionValue(current.attributeName(), command.getOptionValue(former.attributeName()));
  });
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
