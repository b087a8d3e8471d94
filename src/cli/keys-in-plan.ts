import { UserError } from '../lib/errors.ts';
import type { Plan } from '../schema/index.ts';

const keyName = /(?:KEY|TOKEN|SECRET|PASSWORD)$/;
/** Shorter values may occur in any text. */
const minLength = 12;

/**
 * Plans are stored and shared, so a key in a name, an address or an option would be published.
 * @throws UserError `key_in_plan` if a plan contains the value of a variable that holds a key
 */
export function refuseKeysInPlan(plan: Plan, variables: Readonly<Record<string, string | undefined>>): void {
  const text = JSON.stringify(plan);
  for (const [name, value] of Object.entries(variables)) {
    if (!keyName.test(name) || value === undefined || value.length < minLength) continue;
    // As written in JSON.
    if (!text.includes(JSON.stringify(value).slice(1, -1))) continue;
    throw new UserError(
      'key_in_plan',
      `The value of ${name} is part of the plan (a name, an address, an option), which is stored.`,
      'Take it out: keys belong only in environment variables.',
    );
  }
}
