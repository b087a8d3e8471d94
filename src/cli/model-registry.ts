import { ModelRegistry } from '../models/index.ts';
import type { Plan } from '../schema/index.ts';
import type { Context } from './context.ts';

/** The language models of a plan; undefined where no run asks one. */
export function registryOf(context: Context, plan: Plan): ModelRegistry | undefined {
  const asking = plan.runs.flatMap(({ roles, limits }) => (roles === undefined ? [] : [{ roles, limits }]));
  if (asking.length === 0) return undefined;
  const { providers = {}, prices = {}, spend = {} } = plan;
  const registry = new ModelRegistry({
    ...{ providers, prices, variables: context.variables },
    folder: process.cwd(),
  });
  for (const { roles, limits } of asking) {
    registry.check(roles);
    if (limits.money !== undefined || spend.money !== undefined) registry.checkPrices(roles);
  }
  return registry;
}
