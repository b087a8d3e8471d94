import type { ActionDescription } from '../../../environment/index.ts';

/** What reading a reply needs to know of an action. */
export type KnownAction = Pick<ActionDescription, 'name' | 'arguments'>;
