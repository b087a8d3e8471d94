import { UserError } from '../lib/errors.ts';
import { shellWord } from '../lib/shell-word.ts';

/** Reads the value of a flag; throws a UserError, `bad_flag`, if the flag does not accept it. */
type ReadNumber = (text: string, flag: string) => number;

/** Only digits, and within these bounds. */
export function wholeNumber(from: number, to?: number): ReadNumber {
  const allowed = to === undefined ? `, at least ${from}` : ` from ${from} to ${to}`;
  return (text, flag) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= from && value <= (to ?? Number.MAX_SAFE_INTEGER)) return value;
    throw notValid(text, flag, `a whole number${allowed}`);
  };
}

/** A port to listen on; 0: any free one. */
export const portNumber = wholeNumber(0, 65_535);

/** Also 0.5, -1 and 1e6, but not 0x10; what allows fewer numbers is checked later. */
export const anyNumber: ReadNumber = (text, flag) => {
  const value = Number(text);
  if (/^[\d.e+-]+$/i.test(text) && Number.isFinite(value)) return value;
  throw notValid(text, flag, 'a number, such as 60');
};

function notValid(text: string, flag: string, allowed: string): UserError {
  return new UserError('bad_flag', `${flag} ${shellWord(text)}: not a valid number.`, `Give ${allowed}.`);
}
