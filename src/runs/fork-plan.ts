import { isDeepStrictEqual } from 'node:util';
import { UserError } from '../lib/errors.ts';
import { sha256 } from '../lib/hash.ts';
import { roleSettings } from '../models/index.ts';
import {
  type ExperimentFile,
  ExperimentName,
  Limits,
  type ModelRole,
  ModelRoles,
  type Plan,
  type RunParent,
  type RunSpec,
} from '../schema/index.ts';
import { noSandboxCaveat } from './plan.ts';
import { runIdOf } from './run-id.ts';

/**
 * Plans one run that is forked from a step of another, with the same task, agent and seed. Limits, models and the
 * agent's options stay as they were, unless set anew. Sandbox and GPU are those in `changes`.
 * @throws UserError if something is set that can't change in the middle of a run
 */
export function makeForkPlan(
  source: RunSpec,
  parent: RunParent,
  changes: ExperimentFile,
  options: RunSpec['agent_options'],
  mlab: string,
): Plan {
  if (changes.models.length > 1) {
    throw new UserError('bad_fork', 'A fork continues with only one model.', 'Name one with --model.');
  }
  const roles = rolesOf(source, changes);
  const place = placeOf(changes);
  const { roles: _, model: __, docker_image: ___, ...kept } = source;
  const moved = isDeepStrictEqual(place, placeOf(source)) ? {} : place;
  const name = changes.name ?? forkName(parent, { roles, options, limits: changes.limits, ...moved });
  const run: RunSpec = {
    ...{ ...kept, ...place },
    id: runIdOf([source.id, 'from', String(parent.step)]),
    experiment: name,
    agent_options: { ...source.agent_options, ...options },
    model: roles?.agent.model ?? null,
    ...(roles === null ? {} : { roles }),
    ...(changes.interactive ? { interactive: true } : {}),
    ...(changes.approve_later ? { approve_later: true } : {}),
    limits: Limits.parse({ ...source.limits, ...changes.limits }),
    caveats: caveatsOf(source, place),
    parent,
  };
  const { providers, prices, spend, grade } = changes;
  return {
    ...{ v: 1 as const, name, created: Date.now(), mlab, parallel: 1, grade },
    ...(roles === null ? {} : { providers, prices, spend }),
    runs: [run],
  };
}

type Place = Pick<RunSpec, 'sandbox' | 'docker_image' | 'gpu' | 'gpus'>;

function placeOf({ sandbox, docker_image: image, gpu, gpus }: Place): Place {
  return {
    sandbox,
    ...(image === undefined ? {} : { docker_image: image }),
    gpu,
    ...(gpus === undefined ? {} : { gpus }),
  };
}

/** A run that began without a sandbox keeps that caveat. */
function caveatsOf({ caveats }: RunSpec, { sandbox }: Place): string[] {
  return sandbox !== 'none' || caveats.includes(noSandboxCaveat) ? caveats : [noSandboxCaveat, ...caveats];
}

/** The same continuation gets the same name, so that the same command resumes it. */
function forkName(parent: RunParent, changes: object): ExperimentName {
  const ending = `-from-${parent.step}-${sha256(JSON.stringify([parent, changes])).slice(0, 6)}`;
  return ExperimentName.parse(`${parent.run.slice(0, 80).replace(/[-_.]+$/, '')}${ending}`);
}

function rolesOf({ roles }: RunSpec, changes: ExperimentFile): ModelRoles | null {
  if (roles === undefined) return null;
  const wanted = { ...changes.roles };
  const model = roleSettings(changes.models[0] ?? null, wanted)?.agent.model ?? roles.agent.model;
  const settle = (role: ModelRole) => ({
    ...roles[role],
    // A role that had the agent's model has the new one, too.
    ...(roles[role].model === roles.agent.model ? { model } : {}),
    ...wanted[role],
  });
  return ModelRoles.parse({ agent: settle('agent'), editor: settle('editor'), fast: settle('fast') });
}
