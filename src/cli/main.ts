import { accessSync, constants } from 'node:fs';
import { tmpdir } from 'node:os';
import { CommanderError } from 'commander';
import { hasCode, messageOf, UserError } from '../lib/errors.ts';
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
import { openLogger } from './logger.ts';
import { addVerbs, calledBy, createProgram, helpLast } from './program.ts';
import { misspeltKeys, readKeys, readSettings } from './settings.ts';
import { plain, terminalJson, terminalText } from './table.ts';

/** Runs one command line (without the program's name) and returns the exit code of the process. */
export async function main(given: string[]): Promise<number> {
  const [first, , third, ...line] = given;
  if (first === 'completion' && third === '--') return await complete(line);
  const argv = helpLast(given);
  const version = ownVersion();
  await using interrupts = new Interrupts();
  const asJson = argv.includes('--json');
  const program = createProgram(version, asJson);
  ignoreLostOutput();
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
      for (const line of await misspeltKeys(process.cwd(), environment)) context.log(line);
      if (asJson) refuseOtherFormat(options);
      // Without anything to clean up, the kernel may end the process at once.
      if (verb.onlyReads !== true) {
        requireTemporaryFolder();
        await interrupts.listen();
      }
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
    exitCode = await reportError(
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

function refuseOtherFormat(options: { format?: string }): void {
  const { format = 'json' } = options;
  if (format === 'json' || format === 'text') return;
  throw new UserError(
    'bad_flag',
    `--json and --format ${format} contradict each other.`,
    'Leave one of them out.',
  );
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
async function reportError(
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
  // Where the result can't be written, nothing can: standard error has said it.
  if (asJson) await print(jsonText({ error: { code, message, hint } })).catch(() => false);
  return exitCode;
}

/** Clusters remove the scratch folders of jobs that are over. */
function requireTemporaryFolder(): void {
  const folder = tmpdir();
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new UserError(
      'no_temporary_folder',
      `The folder for temporary files can't be used: ${messageOf(cause)}`,
      `Create ${folder}, make it writable, or name another one in TMPDIR.`,
      { cause },
    );
  }
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
      else if (isReaderGone(error)) resolve(false);
      else reject(resultLost(error));
    });
  });
}

function resultLost(cause: Error): UserError {
  return new UserError(
    'output_not_written',
    `The result can't be written: ${cause.message}`,
    'What the command did is kept; only what it printed is lost. Free some space, or send it elsewhere.',
    { cause },
  );
}

/**
 * Messages that can't be written are dropped: a full disk below a log must not end hours of work. `print` learns itself
 * what happens to results.
 */
function ignoreLostOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}

/** A reader may stop early (`mlab … | head -1`), and a terminal may be closed: that is not an error. */
function isReaderGone(error: unknown): boolean {
  return hasCode(error, 'EPIPE') || hasCode(error, 'EIO');
}
