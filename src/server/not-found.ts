import { UserError } from '../lib/errors.ts';

/** An address that leads to nothing; answered with 404, as every code that begins so. @param hint null: the usual one */
export function notFound(code: `unknown_${string}`, message: string, hint: string | null): UserError {
  return new UserError(code, message, hint ?? 'Go back to the list of experiments.');
}

export function isNotFound(error: UserError): boolean {
  return error.code.startsWith('unknown_');
}
