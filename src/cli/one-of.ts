import { UserError } from '../lib/errors.ts';

/**
 * One of the values that a flag accepts.
 * @throws UserError `bad_flag`
 */
export function oneOf<Name extends string>(flag: string, names: readonly Name[], text: string): Name {
  const name = names.find((known) => known === text);
  if (name !== undefined) return name;
  throw new UserError(
    'bad_flag',
    `${flag} ${text}: not a valid choice.`,
    `Choose from: ${names.join(', ')}.`,
  );
}
