/**
 * An error that a person can fix: it says what is wrong, and `hint` says what to do. The command line shows both,
 * without a stack.
 */
export class UserError extends Error {
  override readonly name = 'UserError';
  readonly code: string;
  readonly hint: string;

  constructor(code: string, message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.hint = hint;
  }

  static isInstance(error: unknown): error is UserError {
    return error instanceof Error && error.name === 'UserError';
  }
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The kind of error in a word: a UserError's code, else its name. */
export function errorName(error: unknown): string {
  if (UserError.isInstance(error)) return error.code;
  return error instanceof Error ? error.name : typeof error;
}

/** Whether a file-system call failed with this code, such as `ENOENT`. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
