import { UserError } from '../lib/errors.ts';
import { roleSettings } from '../models/index.ts';
import {
  type ExperimentFile,
  ExperimentName,
  type Limits,
  type ModelRoles,
  type Plan,
  RunId,
  type RunParent,
  type RunSpec,
} from '../schema/index.ts';

/**
 * Plans one run that goes on from a step of another: the same task, agent and seed; limits, models and the agent's
 * options as they were, but for what is said anew.
 * @throws UserError where something is said anew that can't change in the middle of a run
 */
export function makeForkPlan(
  source: RunSpec,
  parent: RunParent,
  changes: ExperimentFile,
  options: RunSpec['agent_options'],
  mlab: string,
): Plan {
  if (changes.models.length > 1) {
    throw new UserError('bad_fork', 'A run goes on with one model.', 'Name one with --model.');
  }
  const name = changes.name ?? forkName(parent);
  const roles = rolesOf(source, changes);
  const { roles: _, model: __, ...kept } = source;
  const run: RunSpec = {
    ...kept,
    id: RunId.parse(`${source.id}-from-${parent.step}`),
    experiment: name,
    agent_options: { ...source.agent_options, ...options },
    model: roles?.agent.model ?? null,
    ...(roles === null ? {} : { roles }),
    ...(changes.interactive ? { interactive: true } : {}),
    limits: limitsOf(source.limits, changes.limits),
    parent,
  };
  const { providers, prices, spend, grade } = changes;
  return {
    ...{ v: 1 as const, name, created: Date.now(), mlab, parallel: 1, grade },
    ...(roles === null ? {} : { providers, prices, spend }),
    runs: [run],
  };
}

function forkName({ experiment, run, step }: RunParent): ExperimentName {
  const ending = `-from-${step}`;
  return ExperimentName.parse(
    `${`${experiment}-${run}`.slice(0, 100 - ending.length).replace(/[-_.]+$/, '')}${ending}`,
  );
}

function rolesOf({ roles }: RunSpec, changes: ExperimentFile): ModelRoles | null {
  if (roles === undefined) return null;
  const [model] = changes.models;
  const wanted = { ...changes.roles };
  if (model === undefined && wanted.agent?.model === undefined) {
    return {
      agent: { ...roles.agent, ...defined(wanted.agent) },
      editor: { ...roles.editor, ...defined(wanted.editor) },
      fast: { ...roles.fast, ...defined(wanted.fast) },
    };
  }
  return roleSettings(model ?? null, wanted);
}

function limitsOf(before: Limits, changes: ExperimentFile['limits']): Limits {
  return { ...before, ...defined(changes) };
}

/** The values that are given. */
function defined<Values extends object>(
  values: Values | undefined,
): { [Key in keyof Values]?: NonNullable<Values[Key]> } {
  const given = Object.entries(values ?? {}).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [Key in keyof Values]?: NonNullable<Values[Key]> };
}
