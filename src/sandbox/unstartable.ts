import type { ProcessEnd, SandboxProcess, StartOptions } from './sandbox.ts';

/** The kernel's limit for one argument, without its closing NUL (MAX_ARG_STRLEN, with pages of 4 KiB). */
const longestArgument = 131_071;
/** Below the minimum that the kernel allows for all arguments and variables together, a quarter of an 8 MiB stack. */
const longestCommand = 1_500_000;
/** The exit code of shells for a program that can't be run. */
const cannotExecute = 126;

/** Why no kernel would run this command, whatever the sandbox; null if it may. */
export function reasonNotToStart(argv: readonly string[]): string | null {
  const lengths = argv.map((argument) => Buffer.byteLength(argument));
  const whole = lengths.reduce((sum, length) => sum + length + 1, 0);
  if (lengths.some((length) => length > longestArgument) || whole > longestCommand) {
    return 'the command is too long: put it in a file and run that';
  }
  return argv.some((argument) => argument.includes('\0')) ? 'the command holds a NUL character' : null;
}

/** A command that failed before it began: that is the command's failure, not the sandbox's. */
export function failedProcess(reason: string, options: StartOptions): SandboxProcess {
  const end: ProcessEnd = {
    ending: 'exited',
    exitCode: cannotExecute,
    signal: null,
    durationMs: 0,
    peakMemoryBytes: null,
    cpuSeconds: null,
  };
  options.onOutput(Buffer.from(`${reason}\n`));
  const ended = Promise.resolve(end);
  return {
    write: () => {},
    unreadBytes: 0,
    endInput: () => {},
    kill: () => ended,
    usage: () => ended,
    ended,
  };
}
