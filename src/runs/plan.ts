import { type Agent, type FoundAgent, programVersion } from '../agents/index.ts';
import { UserError } from '../lib/errors.ts';
import { sha256 } from '../lib/hash.ts';
import { roleSettings } from '../models/index.ts';
import {
  type AgentOptions,
  defaultLimits,
  type ExperimentFile,
  ExperimentName,
  type Lesson,
  type Limits,
  type Plan,
  type RunId,
  type RunSpec,
} from '../schema/index.ts';
import { dataCaveats, type Task } from '../tasks/index.ts';
import { machineAmounts } from './jobs/capacity.ts';
import { runIdOf } from './run-id.ts';

/** A task with what the plan needs to know about its data. */
export interface PlannedTask {
  task: Task;
  /** Whether its data has the expected checksums. */
  verified: boolean;
}

export const noSandboxCaveat = 'no sandbox';

export interface PlannedAgent extends FoundAgent {
  options: AgentOptions;
}

/**
 * Lists all runs of an experiment: tasks × agents × models × seeds, each with everything that defines it.
 * @param lessonsFor the lessons for agents that use experience, by task and name of the experiment; absent: they start
 *   without any
 */
export function makePlan(
  experiment: ExperimentFile,
  tasks: readonly PlannedTask[],
  agents: readonly PlannedAgent[],
  mlab: string,
  lessonsFor?: (task: Task, experiment: string) => Lesson[],
): Plan {
  const name = experiment.name ?? experimentName(experiment, tasks, agents);
  const seeds = typeof experiment.seeds === 'number' ? range(experiment.seeds) : experiment.seeds;
  const learned = new Map(
    lessonsFor === undefined ? [] : tasks.map(({ task }) => [task.file.id, lessonsFor(task, name)]),
  );
  const runs: RunSpec[] = [];
  for (const seed of seeds) {
    for (const { task, verified } of tasks) {
      const lessons = learned.get(task.file.id);
      for (const { agent, source, options } of agents) {
        const experience = agent.usesExperience ? lessons : undefined;
        const models = modelsFor(agent, experiment);
        for (const model of models) {
          runs.push({
            id: runId(task, agent, options, modelParts(model, models), seed),
            experiment: name,
            task: task.file.id,
            task_version: task.version,
            agent: agent.name,
            ...(source === undefined ? {} : { agent_source: source }),
            agent_options: options,
            ...versionOf(agent, options),
            model,
            ...rolesOf(model, experiment),
            seed,
            limits: limitsFor(task, experiment.limits),
            sandbox: experiment.sandbox,
            ...(experiment.docker_image === undefined ? {} : { docker_image: experiment.docker_image }),
            ...(experiment.interactive ? { interactive: true } : {}),
            ...(experiment.approve_later ? { approve_later: true } : {}),
            ...(experience === undefined ? {} : { experience }),
            ...(experiment.clock === undefined ? {} : { clock: experiment.clock }),
            ...gpusFor(task, experiment),
            caveats: [
              ...(experiment.sandbox === 'none' ? [noSandboxCaveat] : []),
              ...dataCaveats(task, verified),
              ...(experience === undefined ? [] : [experienceCaveat(experience, experiment)]),
            ],
          });
        }
      }
    }
  }
  refuseTwice(runs);
  return {
    v: 1,
    name,
    created: Date.now(),
    mlab,
    ...sharesOf(experiment),
    grade: experiment.grade,
    ...modelSettings(experiment, runs),
    runs,
  };
}

function gpusFor(task: Task, { gpu, gpus }: ExperimentFile): Pick<RunSpec, 'gpu' | 'gpus'> {
  const { gpu: use } = task.file.resources;
  const isGranted = use === 'required' || ((gpu || gpus !== undefined) && use !== 'none');
  return { gpu: isGranted, ...(isGranted && gpus !== undefined ? { gpus } : {}) };
}

/** The maximum number of runs at once, and what each holds. */
function sharesOf({ parallel, resources }: ExperimentFile): Pick<Plan, 'parallel' | 'resources'> {
  const { cores: all } = machineAmounts();
  if (parallel !== undefined && resources === undefined) return { parallel };
  const cores = resources?.cores ?? all / (parallel ?? Math.max(1, Math.floor(all / 2)));
  return { parallel: parallel ?? Math.max(1, Math.floor(all / cores)), resources: { ...resources, cores } };
}

/** Whether a run starts with lessons: its results are then comparable at most with those of other such runs. */
function experienceCaveat({ length }: readonly Lesson[], { same_task: sameTask }: ExperimentFile): string {
  if (length === 0) return 'cold: no lesson fits';
  return `warm: ${length} ${length === 1 ? 'lesson' : 'lessons'}${sameTask ? ', the same task included' : ''}`;
}

function refuseTwice(runs: readonly RunSpec[]): void {
  const seen = new Set<string>();
  for (const { id } of runs) {
    if (seen.has(id)) {
      throw new UserError(
        'planned_twice',
        `The run ${id} is planned twice.`,
        'Name each task, agent, model and seed only once.',
      );
    }
    seen.add(id);
  }
}

/** The same experiment gets the same name, so that the same command resumes it. */
function experimentName(
  experiment: ExperimentFile,
  tasks: readonly PlannedTask[],
  agents: readonly PlannedAgent[],
): ExperimentName {
  const what = experiment.suite ?? (tasks.length === 1 ? tasks[0]?.task.file.id : `${tasks.length}-tasks`);
  const who = agents.map(({ agent }) => agent.name).join('-');
  // Settings that may change when an experiment is resumed are not part of its name.
  const { parallel, resources, executor, providers, prices, spend, ...defining } = experiment;
  const ids = tasks.map(({ task }) => task.file.id);
  // Flags set options, too, so the experiment file does not have all of them.
  const chosen = agents.map(({ agent: { name }, options }) =>
    Object.keys(options).length === 0 ? name : { name, options },
  );
  const hash = sha256(JSON.stringify({ ...defining, agents: chosen, ids })).slice(0, 6);
  return ExperimentName.parse(
    `${what}-${who}`
      .slice(0, 80)
      .replace(/[^a-z0-9]+$/, '')
      .concat(`-${hash}`),
  );
}

function runId(task: Task, agent: Agent, options: AgentOptions, model: string[], seed: number): RunId {
  const variant = Object.keys(options).length === 0 ? [] : [sha256(JSON.stringify(options)).slice(0, 4)];
  const who = agent.program !== undefined && typeof options.label === 'string' ? options.label : agent.name;
  return runIdOf([task.file.id, who, ...model, ...variant, String(seed)]);
}

/** A model in the ids of runs, with a hash where others of the experiment differ only in characters that ids lack. */
function modelParts(model: string | null, all: readonly (string | null)[]): string[] {
  if (model === null) return [];
  const name = nameInIds(model);
  const isAmbiguous = all.some((other) => other !== null && other !== model && nameInIds(other) === name);
  return [name, ...(isAmbiguous ? [sha256(model).slice(0, 4)] : [])];
}

function nameInIds(model: string): string {
  return model
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}

function modelsFor(agent: Agent, { models, roles }: ExperimentFile): (string | null)[] {
  const isOptional = agent.program?.modelIsOptional === true;
  if (!agent.needs.model && !isOptional) return [null];
  if (models.length > 0) return [...models];
  if (roles.agent?.model !== undefined) return [roles.agent.model];
  if (isOptional) return [null];
  throw new UserError(
    'model_missing',
    `The agent ${agent.name} needs a language model.`,
    'Name one with --model (mlab models lists usable providers), or choose an agent that needs none, such as automl.',
  );
}

function rolesOf(model: string | null, { roles }: ExperimentFile): Pick<RunSpec, 'roles'> {
  const settled = model === null ? null : roleSettings(model, roles);
  return settled === null ? {} : { roles: settled };
}

function versionOf(agent: Agent, options: AgentOptions): Pick<RunSpec, 'agent_version'> {
  const version = programVersion(agent, options);
  return version === undefined ? {} : { agent_version: version };
}

/** Kept only if a run calls a model. */
function modelSettings(
  { providers, prices, spend }: ExperimentFile,
  runs: readonly RunSpec[],
): Pick<Plan, 'providers' | 'prices' | 'spend'> {
  return runs.some(({ roles }) => roles !== undefined) ? { providers, prices, spend } : {};
}

/** The wanted limits, completed by the task's, completed by the defaults. */
export function limitsFor(task: Task, wanted: ExperimentFile['limits']): Limits {
  const given = Object.entries({ ...task.file.limits, ...wanted }).filter(([, value]) => value !== undefined);
  return { ...defaultLimits, ...Object.fromEntries(given) };
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}
