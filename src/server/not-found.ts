import { UserError } from '../lib/errors.ts';

/**
 * There is nothing at the address; answered with 404, like every code with this prefix.
 * @param hint null: the usual one
 */
export function notFound(code: `unknown_${string}`, message: string, hint: string | null): UserError {
  return new UserError(code, message, hint ?? 'Go back to the list of experiments.');
}

export function isNotFound(error: UserError): boolean {
  return error.code.startsWith('unknown_');
}
