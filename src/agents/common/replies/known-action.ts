import type { ActionDescription } from '../../../environment/index.ts';

/** What must be known about an action to read a reply. */
export type KnownAction = Pick<ActionDescription, 'name' | 'arguments'>;
