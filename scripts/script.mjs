import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** One line about what is being done; on stderr, so that standard output stays for results. */
export function say(line) {
  process.stderr.write(`${line}\n`);
}

/** Seconds since `start` (of `performance.now()`), such as `12.3 s`. */
export function secondsSince(start) {
  return `${((performance.now() - start) / 1000).toFixed(1)} s`;
}

/** Something a person can fix: shown without a stack. */
export class SetUpError extends Error {
  name = 'SetUpError';
}

/** Runs a script's main part; a SetUpError ends it with its message alone. */
export async function runScript(main) {
  try {
    process.exitCode = await main(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof SetUpError)) throw error;
    say(error.message);
    process.exitCode = 1;
  }
}

/** Whether the module of this URL is the program that Node was started with. */
export function isProgram(url) {
  return process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(url);
}
