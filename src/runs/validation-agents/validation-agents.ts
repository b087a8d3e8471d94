import { UserError } from '../../lib/errors.ts';
import { nearest } from '../../lib/nearest.ts';
import { daemon } from './daemon.ts';
import { dataWriter } from './data-writer.ts';
import { escaper } from './escape.ts';
import { forger } from './forger.ts';
import { hog } from './hog.ts';
import { honestAgents } from './honest.ts';
import { labelHunter } from './label-hunter.ts';
import { network } from './network.ts';
import type { ValidationAgent } from './validation-agent.ts';

/** All validation agents: the honest ones, then the adversarial ones. */
export const validationAgents: readonly ValidationAgent[] = [
  ...honestAgents,
  ...[labelHunter, dataWriter, escaper, network, daemon, forger, hog],
];

/** The validation agents with these names, in the order of the list; all if there are no names. Throws a UserError. */
export function validationAgentsByName(names: readonly string[]): readonly ValidationAgent[] {
  if (names.length === 0) return validationAgents;
  const known = validationAgents.map(({ name }) => name);
  for (const name of names) {
    if (known.includes(name)) continue;
    const meant = nearest(name, known);
    throw new UserError(
      'unknown_validation_agent',
      `There is no validation agent "${name}"${meant === null ? '' : `; did you mean "${meant}"?`}`,
      `The validation agents are: ${known.join(', ')}.`,
    );
  }
  return validationAgents.filter(({ name }) => names.includes(name));
}
