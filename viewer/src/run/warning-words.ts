import type { WarningKind } from '../../../src/schema/index.ts';

export const warningWords: Record<WarningKind, string> = {
  ungrounded_number: 'A number without a measurement',
  repeated_action: 'The same action again, on an unchanged workspace',
  stale_submission: 'The submission is older than the code',
  format_error: 'A reply in a wrong format',
  blocked_attempt: 'An attempt that was stopped',
  doubt: 'The result is in doubt',
  failure: 'A kind of failure',
};
