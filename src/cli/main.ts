import { Command, CommanderError, Option } from 'commander';
import { hasCode, UserError } from '../lib/errors.ts';
import {
  type Context,
  createContext,
  type ExitCode,
  exitCodes,
  type GlobalOptions,
  ownVersion,
  type VerbResult,
} from './context.ts';
import { explain } from './explain.ts';
import { Interrupts } from './interrupts.ts';
import { logLevels, openLogger } from './logger.ts';
import { oneOf } from './one-of.ts';
import { readKeys, readSettings } from './settings.ts';
import { plain, terminalJson, terminalText } from './table.ts';
import { type Flag, severalWords, type Verb } from './verb.ts';
import { commandGroups, type VerbEntry, verbs } from './verbs.ts';

/** Runs one command line (without the program's name) and returns the exit code of the process. */
export async function main(given: string[]): Promise<number> {
  const [first, , third, ...line] = given;
  if (first === 'completion' && third === '--') return await complete(line);
  const argv = helpLast(given);
  const version = ownVersion();
  await using interrupts = new Interrupts();
  const asJson = argv.includes('--json');
  const program = createProgram(version, asJson);
  ignoreClosedPipes();
  let exitCode: ExitCode = exitCodes.ok;
  try {
    await addVerbs(program, argv, async (verb, args, options) => {
      const { logLevel } = program.opts<GlobalOptions>();
      await using logger = openLogger(logLevel, process.env.MLAB_LOG);
      const settings = await readSettings(process.cwd());
      const environment = { ...settings.variables, ...process.env };
      const context = createContext(
        { ...program.opts<GlobalOptions>(), settings },
        { ...environment, ...(await readKeys(process.cwd(), environment)) },
        version,
        interrupts.signal,
        logger,
        (words) => interrupts.detachable(words),
      );
      if (asJson) refuseOtherFormat(options);
      // Without anything to clean up, the kernel may end the process at once.
      if (verb.onlyReads !== true) await interrupts.listen();
      const result = await logged(context, () => verb.run(context, args, options));
      await print(asJson ? jsonText(await jsonOf(result)) : terminalText(result.text));
      // Lines are data of the store, such as events: programs get them unchanged.
      const shown = process.stdout.isTTY ? terminalJson : (line: string) => line;
      if (!asJson) for await (const line of result.lines ?? []) if (!(await print(shown(line)))) break;
      await result.stay?.();
      exitCode = result.exitCode ?? exitCodes.ok;
    });
    if (argv.length === 0) program.outputHelp();
    else await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    exitCode = await tell(
      error,
      interrupts.signal,
      calledBy(argv),
      asJson,
      isVerbose(program.opts<GlobalOptions>()),
    );
  }
  return exitCode;
}

/** Called at Tab by the completion script of a shell, so it may print nothing but choices. */
async function complete(words: readonly string[]): Promise<ExitCode> {
  const { completionOf, completionText } = await import('./completion.ts');
  const { options } = createProgram(ownVersion(), false);
  const globals = options
    .filter(({ hidden }) => !hidden)
    .map(({ flags, description, argChoices: choices }) => ({
      ...{ flags, description },
      ...(choices === undefined ? {} : { choices }),
    }));
  const valueAfter = (flag: string) => words.flatMap((word, at) => (words[at - 1] === flag ? [word] : []));
  const [dir] = valueAfter('--dir');
  const { signal } = new AbortController();
  const places = { ...(dir === undefined ? {} : { dir }), settings: await readSettings(process.cwd()) };
  const context = createContext(
    places,
    { ...places.settings.variables, ...process.env },
    ownVersion(),
    signal,
  );
  await print(completionText(await completionOf(context, words, globals)));
  return exitCodes.ok;
}

function createProgram(version: string, asJson: boolean): Command {
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
    .option('-q, --quiet', 'print results and errors, and no progress')
    .option('-v, --verbose', 'print every step and model call of runs, and the stack of errors')
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
    .configureHelp({ showGlobalOptions: true })
    .addHelpText(
      'after',
      '\nExample:\n  mlab run --suite starter --agent automl --seeds 2\n\nEvery command has --help with examples.',
    );
  return program;
}

/** Adds every verb by name and summary, and the called one with its arguments, flags and help. */
async function addVerbs(
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
function helpLast(argv: string[]): string[] {
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

/** The command that is called, to point to its help. */
function calledBy(argv: readonly string[]): string {
  const words = argv.filter((word) => !word.startsWith('-'));
  const called = verbs.find(({ name }) => {
    const [first = '', second] = name.split(' ');
    return words.includes(first) && (second === undefined || words.includes(second));
  });
  return called === undefined ? '' : `mlab ${called.name}`;
}

function refuseOtherFormat(options: { format?: string }): void {
  const { format = 'json' } = options;
  if (format === 'json' || format === 'text') return;
  throw new UserError(
    'bad_flag',
    `--json and --format ${format} contradict each other.`,
    'Leave one of them out.',
  );
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
  const examples = verb.examples.map(([line, meaning]) => `  ${line}\n      ${meaning}`);
  const details = verb.details === undefined ? '' : `\n${verb.details}\n`;
  const negative = verb.negative === undefined ? '' : `\nExit code 1: ${verb.negative}.\n`;
  command.addHelpText('after', `${details}${negative}\nExamples:\n${examples.join('\n')}`);
  command.action(async () => act(verb, command.args, command.opts()));
}

function optionOf(flag: Flag, calledNow?: string): Option {
  const several = flag.many === undefined ? '' : ` (${severalWords[flag.many]})`;
  const option = new Option(flag.flags, `${flag.description}${several}`);
  if (flag.default !== undefined) option.default(flag.default);
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

/** Logs the error that ends a command. */
async function logged({ logger, signal }: Context, work: () => Promise<VerbResult>): Promise<VerbResult> {
  try {
    return await work();
  } catch (error) {
    const { code, message } = explain(error, signal.aborted);
    // The message of a bug may quote anything.
    logger.write('error', 'command_failed', { error: code, ...(code === 'internal' ? {} : { message }) });
    throw error;
  }
}

/** Prints what went wrong and what to do, and returns the exit code. */
async function tell(
  error: unknown,
  signal: AbortSignal,
  called: string,
  asJson: boolean,
  withStack: boolean,
): Promise<ExitCode> {
  // Help and version were asked for, and are already printed.
  if (
    error instanceof CommanderError &&
    (error.exitCode === 0 || (error.code === 'commander.help' && !asJson))
  )
    return exitCodes.ok;
  const { code, exitCode, message, hint } = explain(error, signal.aborted, called);
  process.stderr.write(`mlab: ${plain(message)}\n${hint === '' ? '' : `${plain(hint)}\n`}`);
  const stack = withStack && exitCode !== exitCodes.internal && error instanceof Error ? error.stack : '';
  if (stack) process.stderr.write(`${plain(stack)}\n`);
  if (asJson) await print(jsonText({ error: { code, message, hint } }));
  return exitCode;
}

function isVerbose({ verbose, quiet }: GlobalOptions): boolean {
  return verbose === true && quiet !== true;
}

function jsonText(value: unknown): string {
  return terminalJson(JSON.stringify(value, null, 2));
}

async function jsonOf({ json }: VerbResult): Promise<unknown> {
  return typeof json === 'function' ? await json() : json;
}

/**
 * Waits until the text is written, because the process ends afterwards and a pipe may be slow. False: the reader has
 * gone.
 */
function print(text: string): Promise<boolean> {
  const whole = text === '' || text.endsWith('\n') ? text : `${text}\n`;
  return new Promise((resolve, reject) => {
    process.stdout.write(whole, (error) => {
      if (error === null || error === undefined) resolve(true);
      else if (hasCode(error, 'EPIPE')) resolve(false);
      else reject(error);
    });
  });
}

/** A reader may stop early (`mlab … | head -1`): that is not an error. */
function ignoreClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error) => {
      if (!hasCode(error, 'EPIPE')) throw error;
    });
  }
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
