import type { ModelRegistry } from '../models/index.ts';
import { openRegistry } from '../runs/index.ts';
import type { Plan } from '../schema/index.ts';
import type { Context } from './context.ts';

/** The language models of a plan; undefined if no run calls one. */
export function registryOf({ variables }: Context, plan: Plan): ModelRegistry | undefined {
  return openRegistry(plan, { variables, folder: process.cwd() });
}
