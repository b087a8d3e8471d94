import { agents } from '../agents/index.ts';
import { UserError } from '../lib/errors.ts';
import { builtInProviders, type ProviderVariables, providerVariables } from '../models/index.ts';
import type { ProviderSettings, RunSpec } from '../schema/index.ts';
import type { Flag } from './verb.ts';

export interface TrustFlags {
  trust?: boolean | undefined;
}

export const trustFlag: Flag = {
  flags: '--trust',
  description:
    'trust the plans of these runs: run code without a sandbox, and send model calls to other machines, if a plan says so',
};

const hint = 'Use --trust if you know who made it.';

/**
 * Experiments are shared: that somebody else ran without a sandbox is no reason to do so here.
 * @throws UserError
 */
export function refuseUnconfined(spec: Pick<RunSpec, 'id' | 'sandbox'>, { trust }: TrustFlags): void {
  if (trust === true || spec.sandbox !== 'none') return;
  throw new UserError(
    'not_trusted',
    `The run ${spec.id} had no sandbox: its code would run on this machine with your permissions.`,
    hint,
  );
}

/**
 * An agent that is a command can read files of this machine that its options name, and send them to its model. If
 * somebody else wrote the options, those files may be your keys.
 * @param source where the options come from
 * @throws UserError
 */
export function refuseHostFiles(
  { agent, agent_options: options }: Pick<RunSpec, 'agent' | 'agent_options'>,
  source: string,
  { trust }: TrustFlags,
): void {
  const program = agents.find(({ name }) => name === agent)?.program;
  const [file] = Object.values(program?.hostFiles?.(options) ?? {});
  if (trust === true || file === undefined) return;
  throw new UserError(
    'not_trusted',
    `${source} would show the agent ${agent} a file of this machine: ${file}`,
    hint,
  );
}

/**
 * Refuses a plan that would send your keys to an address it names, unless that is this machine, or to a provider that
 * has no business with them.
 * @throws UserError
 */
export function refuseAddresses(
  providers: Readonly<Record<string, ProviderSettings>> | undefined,
  { trust }: TrustFlags,
): void {
  if (trust === true) return;
  for (const [name, { kind = name, base_url: address, api_key_variable: variable }] of Object.entries(
    providers ?? {},
  )) {
    if (address !== undefined && isOfThisMachine(address)) continue;
    if (address !== undefined)
      throw new UserError(
        'not_trusted',
        `The plan sends calls to models of ${name} to ${address}, with your key.`,
        hint,
      );
    if (variable === undefined || keysOf(kind).includes(variable)) continue;
    throw new UserError(
      'not_trusted',
      `The plan sends the value of your variable ${variable} to the provider ${name}, as its key.`,
      hint,
    );
  }
}

function keysOf(kind: string): readonly string[] {
  const known = builtInProviders.find((name) => name === kind);
  return known === undefined ? [] : providerVariables(known).keyVariables;
}

/**
 * Refuses to send your password to an address in an experiment's folder, which somebody else may have written.
 * @param recorded where its jobs were before
 * @throws UserError
 */
export function refuseRecordedPlace(recorded: string | null, variables: ProviderVariables): void {
  if (recorded === null || !URL.canParse(recorded)) return;
  const { host } = new URL(recorded);
  const own = URL.parse(variables.MLAB_REDIS_URL ?? '')?.host;
  if (host === own || isOfThisMachine(recorded)) return;
  throw new UserError(
    'not_trusted',
    `A file in the experiment's folder says that its jobs are on ${recorded}.`,
    `Use --on ${recorded} if you know that address, or --on local.`,
  );
}

function isOfThisMachine(address: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(new URL(address).hostname);
}
