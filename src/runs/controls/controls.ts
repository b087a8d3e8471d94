import { UserError } from '../../lib/errors.ts';
import { nearest } from '../../lib/nearest.ts';
import type { Control } from './control.ts';
import { daemon } from './daemon.ts';
import { dataWriter } from './data-writer.ts';
import { escaper } from './escape.ts';
import { forger } from './forger.ts';
import { hog } from './hog.ts';
import { honestControls } from './honest.ts';
import { labelHunter } from './label-hunter.ts';
import { network } from './network.ts';

/** Every control there is: the honest ones, then the cheaters. */
export const controls: readonly Control[] = [
  ...honestControls,
  ...[labelHunter, dataWriter, escaper, network, daemon, forger, hog],
];

/** The controls of these names, in the order of the list; all when none is named. Throws a UserError. */
export function controlsByName(names: readonly string[]): readonly Control[] {
  if (names.length === 0) return controls;
  const known = controls.map(({ name }) => name);
  for (const name of names) {
    if (known.includes(name)) continue;
    const meant = nearest(name, known);
    throw new UserError(
      'unknown_control',
      `There is no control "${name}"${meant === null ? '' : `; did you mean "${meant}"?`}`,
      `The controls are: ${known.join(', ')}.`,
    );
  }
  return controls.filter(({ name }) => names.includes(name));
}
