import { UserError } from '../errors.ts';

/** An error in a form that can be sent between threads. */
export interface Failure {
  name: string;
  message: string;
  stack: string | undefined;
  code: string | undefined;
  /** For a UserError. */
  hint: string | undefined;
}

export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error))
    return { name: 'Error', message: String(error), stack: undefined, code: undefined, hint: undefined };
  const { name, message, stack } = error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return { name, message, stack, code, hint: UserError.isInstance(error) ? error.hint : undefined };
}

export function errorOf({ name, message, stack, code, hint }: Failure): Error {
  if (hint !== undefined) return new UserError(code ?? 'unknown', message, hint);
  return Object.assign(
    new Error(message),
    { name, ...(code === undefined ? {} : { code }) },
    stack ? { stack } : {},
  );
}
