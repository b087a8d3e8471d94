import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { messageOf } from '../src/lib/errors.ts';
import { SetUpError } from './script.mjs';

/** The flags and other words of a command line; unknown flags end the script with its help. */
export function readWords<const Options extends ParseArgsOptionsConfig>(
  words: string[],
  help: string,
  options: Options,
) {
  try {
    return parseArgs({ args: words, options, allowPositionals: true });
  } catch (error) {
    throw new SetUpError(`${messageOf(error)}\n\n${help}`);
  }
}
