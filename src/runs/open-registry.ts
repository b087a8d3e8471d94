import { ModelRegistry, type SharedPace } from '../models/index.ts';
import type { Plan, RunSpec } from '../schema/index.ts';

export interface RegistrySettings extends Pick<Plan, 'providers' | 'prices' | 'spend'> {
  runs: readonly Pick<RunSpec, 'roles' | 'limits'>[];
}

/**
 * The language models that runs call; undefined if none does.
 * @param machine the environment's variables, which contain the keys, and the folder of scripted models
 * @throws UserError if a model can't be called, or if its cost is limited but unknown
 */
export function openRegistry(
  { runs, providers = {}, prices = {}, spend = {} }: RegistrySettings,
  machine: {
    variables: Readonly<Record<string, string | undefined>>;
    folder: string;
    sharedPace?: SharedPace;
  },
): ModelRegistry | undefined {
  const asking = runs.flatMap(({ roles, limits }) => (roles === undefined ? [] : [{ roles, limits }]));
  if (asking.length === 0) return undefined;
  const registry = new ModelRegistry({ providers, prices, ...machine });
  for (const { roles, limits } of asking) {
    // Before keys: a dry run needs none.
    if (limits.money !== undefined || spend.money !== undefined) registry.checkPrices(roles);
    registry.check(roles);
  }
  return registry;
}
