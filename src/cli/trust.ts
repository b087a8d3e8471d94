import { UserError } from '../lib/errors.ts';
import type { ProviderSettings, RunSpec } from '../schema/index.ts';
import type { Flag } from './verb.ts';

export interface TrustFlags {
  trust?: boolean | undefined;
}

export const trustFlag: Flag = {
  flags: '--trust',
  description: 'do what runs and plans say that somebody else could have written to harm you',
};

const hint = 'Give --trust where you know who made it.';

/**
 * Experiments are handed on: that a run had no sandbox is no reason to have none here.
 * @throws UserError
 */
export function refuseUnconfined(spec: Pick<RunSpec, 'id' | 'sandbox'>, { trust }: TrustFlags): void {
  if (trust === true || spec.sandbox !== 'none') return;
  throw new UserError(
    'not_trusted',
    `The run ${spec.id} had no sandbox: its code would be executed on this machine as if it were yours.`,
    hint,
  );
}

/**
 * No key of yours is sent where a plan says, unless that is this machine itself.
 * @throws UserError
 */
export function refuseAddresses(
  providers: Readonly<Record<string, ProviderSettings>> | undefined,
  { trust }: TrustFlags,
): void {
  if (trust === true) return;
  for (const [name, { base_url: address }] of Object.entries(providers ?? {})) {
    if (address === undefined || isOfThisMachine(address)) continue;
    throw new UserError(
      'not_trusted',
      `The plan has calls of the models of ${name} sent to ${address}, with your key.`,
      hint,
    );
  }
}

function isOfThisMachine(address: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(new URL(address).hostname);
}
