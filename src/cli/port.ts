import { UserError } from '../lib/errors.ts';

/**
 * Parses a port.
 * @throws UserError if it is not one
 */
export function portOf(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new UserError(
    'bad_flag',
    `--port ${text}: not a valid port.`,
    'Give a number up to 65535, such as 8080.',
  );
}
