import type { Agent } from '../agents/index.ts';
import { UserError } from '../lib/errors.ts';
import { withModelsOf } from '../models/index.ts';
import { anyAgentOfRun, makePlan, type PlannedAgent, type PlannedTask } from '../runs/index.ts';
import type { ExperimentFile, Plan, RunSpec } from '../schema/index.ts';
import { sampleCaveat, sampleOf, type Task } from '../tasks/index.ts';
import { type AgentFlags, agentPlace, chosenAgents } from './agent-options.ts';
import { type BranchToBegin, branchOf } from './begin-branch.ts';
import type { Context } from './context.ts';
import { withGateway } from './execute-there.ts';
import { keysSet, readExperiment } from './experiment-flags.ts';
import { asItsRun, type ForkFlags, type ForkSource, findParent, makeFork, onData } from './fork-flags.ts';
import { lessonChooser } from './lesson-chooser.ts';
import { chooseTasks, type ResourceFlags } from './task-resources.ts';
import { refuseHostFiles } from './trust.ts';

export interface RequestFlags extends ResourceFlags, AgentFlags, ForkFlags {}

/** What a call of `mlab run` asks for, after its file, flags and settings were read. */
export interface RunRequest {
  wanted: ExperimentFile;
  tasks: Task[];
  /** None for a continuation: its run names the agent. */
  agents: PlannedAgent[];
  /** The run that is continued. */
  source: ForkSource | null;
  /** The branch that is begun; null for a fork and for a new experiment. */
  branch: BranchToBegin | null;
  /** The plan for the data that is known to be verified or not. */
  planOf(known: readonly PlannedTask[]): Plan;
  agentOf(run: RunSpec): Promise<Agent>;
}

/** @throws UserError if something is named that does not exist, or does not go together */
export async function readRequest(
  context: Context,
  path: string | undefined,
  flags: RequestFlags,
): Promise<RunRequest> {
  const read = readExperiment(path, flags, context.settings.run);
  const said = keysSet(path, flags);
  const source = findParent(context, flags, said);
  const request =
    source === null
      ? await newExperiment(context, withGateway(withModelsOf(context.variables, read)), flags)
      : await continuation(context, withGateway(asItsRun(read, source, said)), source, flags);
  // The settings name them, and came from a folder that nobody named.
  if (!said.has('agents')) {
    const place = context.settings.path ?? 'What is usual';
    for (const { agent, options } of request.agents)
      refuseHostFiles({ agent: agent.name, agent_options: options }, place, flags);
  }
  return { ...request, agentOf: (run) => anyAgentOfRun(run, agentPlace(context, run, flags.interpreter)) };
}

type Request = Omit<RunRequest, 'agentOf'>;

async function newExperiment(
  context: Context,
  wanted: ExperimentFile,
  flags: RequestFlags,
): Promise<Request> {
  const chosen = tasksOf(context, wanted);
  const tasks = flags.sample === true ? chosen.map(sampleOf) : chosen;
  const lessonsFor = lessonChooser(context, wanted);
  const agents = await chosenAgents(
    wanted,
    flags,
    agentPlace(context, wanted, flags.interpreter),
    tasks.map(({ environmentFolder }) => environmentFolder),
  );
  return {
    ...{ wanted, tasks, agents, source: null, branch: null },
    planOf: (known) => makePlan(wanted, known, agents, context.version, lessonsFor),
  };
}

async function continuation(
  context: Context,
  wanted: ExperimentFile,
  source: ForkSource,
  flags: RequestFlags,
): Promise<Request> {
  const chosen = chooseTasks(context, [source.spec.task], undefined);
  const isSample = flags.sample === true || source.spec.caveats.includes(sampleCaveat);
  const tasks = isSample ? chosen.map(sampleOf) : chosen;
  const fork = await makeFork(context, source, wanted, flags, tasks[0]);
  const branch = branchOf(context, source, fork, wanted, flags);
  return {
    ...{ wanted, tasks, agents: [], source, branch },
    planOf: (known) =>
      onData(
        branch?.plan ?? fork,
        branch !== null,
        known.every(({ verified }) => verified),
      ),
  };
}

function tasksOf(context: Context, wanted: ExperimentFile): Task[] {
  const tasks = chooseTasks(context, wanted.tasks, wanted.suite);
  if (tasks.length > 0) return tasks;
  throw new UserError(
    'no_tasks',
    'No task is given.',
    'Name tasks with --task or --suite (mlab tasks ls lists them), for example: mlab run --suite starter',
  );
}
