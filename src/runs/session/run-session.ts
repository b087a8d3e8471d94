import { mkdirSync, writeFileSync } from 'node:fs';
import { type Agent, programBrief } from '../../agents/index.ts';
import {
  type BranchStart,
  type Ending,
  ProgramEnvironment,
  RunEnvironment,
  type RunEnvironmentOptions,
  type RunModels,
} from '../../environment/index.ts';
import { UserError } from '../../lib/errors.ts';
import { openToReaders } from '../../lib/open-to-readers.ts';
import { ownTurn } from '../../lib/own-turn.ts';
import { sentence } from '../../lib/sentence.ts';
import { type CallRecord, ModelUnavailable, Quota, Upstream } from '../../models/index.ts';
import { cudaObstacle, type Sandbox, sandboxOptions } from '../../sandbox/index.ts';
import { type AgentClaims, branchesAtOnce, type EventOf, type RunSpec } from '../../schema/index.ts';
import { LocalServices, serviceRestarts } from '../../services/index.ts';
import type { TraceWriter } from '../../store/index.ts';
import { concealedBy } from '../../tasks/index.ts';
import { ProgramSetting } from '../outside/program-setting.ts';
import { runProgram } from '../outside/run-program.ts';
import { endUnanswered } from '../outside/unanswered.ts';
import { fixedFiles, isReadOnly, publicManifest, type TaskResources } from '../workspace.ts';
import { type BranchWorkspace, branchFolders, mainBranch } from './branch-workspace.ts';
import { type ResumeState, readResumeState } from './resume-state.ts';
import { runAgent } from './run-agent.ts';
import { unusableGpu } from './run-failure.ts';
import type { ScriptOutcome } from './run-record.ts';
import type { RunServices } from './run-services.ts';
import { SessionBranches } from './session-branches.ts';

const notBegun = { kind: 'closed' as const, message: 'The run has not begun.' };

/**
 * One session of a run: opens everything that it needs, lets the agent act until the run ends, and records the end.
 * @throws RunStopped, and infrastructure failures: the trace then ends with the last finished step
 */
export async function executeSession(spec: RunSpec, services: RunServices): Promise<ScriptOutcome> {
  const { folder, resources, agent, dockerCommand, helpersFolder, threads, signal } = services;
  // Hundreds of runs may begin together.
  await ownTurn();
  await using trace = folder.openTrace();
  const resume = readResumeState(folder, spec.parent);
  await writeManifest(services);
  using setting = await programSetting(spec, services);
  await using branches = new SessionBranches({
    ...{ spec, folder, resources, helpersFolder, threads, dockerCommand, setting, signal },
    gpus: services.gpus?.gpus,
    startServices: (askForTool) => startServices(spec, services, askForTool),
  });
  // No tool runs before there is a workspace.
  let askForTool: BranchStart['askForTool'] = async () => notBegun;
  await using main = await branches.openMain(resume.workspace, (request) => askForTool(request));
  await refuseUnusableGpus(main.sandbox, services);
  await ownTurn();
  if (setting === null && spec.roles !== undefined) await services.models?.registry.load(spec.roles);
  beginSession(trace, spec, resume, main, services);
  const quota = runQuota(spec, resume);
  const models = runModels(spec, services, resume, quota);
  const options = { ...environmentOptions(spec, services, trace, resume, main, branches), models };
  const acting =
    setting === null
      ? openLoop(agent, spec, services, options)
      : openProgram(spec, services, setting, main.sandbox, options, quota);
  await using environment = acting.environment;
  askForTool = (request) => environment.askForTool(request);
  const ending = await environment.end(await acting.act());
  signal.throwIfAborted();
  const { modelFailure, scriptFailure } = await branches.stopServices();
  if (modelFailure !== null) throw new Error(modelFailure);
  const end = withServicesEnd(ending, scriptFailure);
  const { reason, message, seconds_used } = await endRun(environment, trace, end, acting.claimed());
  return {
    status: 'finished',
    end: { reason, message },
    steps: environment.stepsTaken,
    seconds_used,
    spent: environment.spent,
  };
}

/** @throws UserError `gpu_unusable`: the run would silently compute on the processor */
async function refuseUnusableGpus(sandbox: Sandbox, { gpus }: RunServices): Promise<void> {
  const obstacle = gpus === undefined ? null : await cudaObstacle(sandbox, gpus.gpus);
  if (obstacle === null) return;
  throw new UserError(
    unusableGpu,
    `Programs in the sandbox can't use the run's GPU: ${obstacle}`,
    "If it is the driver's library that is missing, put its folder into LD_LIBRARY_PATH; mlab doctor shows whether that helps.",
  );
}

/** The parts of an environment that a session needs, whoever acts in it. */
type ActingEnvironment = AsyncDisposable &
  Pick<
    RunEnvironment,
    'askForTool' | 'end' | 'finalState' | 'stepsTaken' | 'secondsUsed' | 'modelSeconds' | 'spent'
  >;

/** The actor of a run, and how the run ended unless something ended it before. */
interface Acting {
  environment: ActingEnvironment;
  act: () => Promise<Ending>;
  /** What the agent reports about itself, if it is a program. */
  claimed: () => AgentClaims | null;
}

function openLoop(
  agent: Agent,
  spec: RunSpec,
  { reference }: RunServices,
  options: RunEnvironmentOptions,
): Acting {
  const environment = new RunEnvironment(options);
  const act = async (): Promise<Ending> => {
    const failure = await runAgent(agent, environment, spec, reference);
    return failure === null
      ? { reason: 'agent_stopped', message: 'The agent stopped without a final answer.', finalAnswer: null }
      : { reason: 'agent_error', message: failure, finalAnswer: null };
  };
  return { environment, act, claimed: () => null };
}

function openProgram(
  spec: RunSpec,
  { agent: { program }, models, resources, folder, signal }: RunServices,
  setting: ProgramSetting,
  sandbox: Sandbox,
  options: RunEnvironmentOptions,
  quota: Quota,
): Acting {
  const { roles } = spec;
  if (program === undefined) throw new Error('the agent is no program');
  const upstream =
    models === undefined || roles === undefined ? new Upstream([]) : models.registry.upstream(roles);
  const environment = new ProgramEnvironment(options);
  let claimed: AgentClaims | null = null;
  const onClaims = (claims: AgentClaims | null) => {
    claimed = claims;
  };
  const act = async () => {
    try {
      return await runProgram({
        ...{ program, spec, folder, setting, sandbox, environment, upstream },
        entry: resources.task.brief.entry,
        ...{ quota, shared: models?.shared ?? null, onClaims },
      });
    } catch (error) {
      if (!ModelUnavailable.isInstance(error) || models === undefined || roles === undefined) throw error;
      const gateway = models.registry.gateway(roles, { quota, shared: models.shared });
      const called = (call: CallRecord) => environment.called(call);
      return await endUnanswered(error, { folder, gateway, called, signal });
    }
  };
  return { environment, act, claimed: () => claimed };
}

async function programSetting(
  spec: RunSpec,
  { agent: { program }, bundle, resources }: RunServices,
): Promise<ProgramSetting | null> {
  if (program === undefined) return null;
  const brief = programBrief(resources.task.brief, spec.limits, spec.seed);
  const hidden = concealedBy(resources.task, resources.prepared);
  return await ProgramSetting.create({ program, bundle: bundle ?? null, spec, brief, hidden });
}

function startServices(
  spec: RunSpec,
  { resources, helpersFolder, dockerCommand, signal }: RunServices,
  askForTool: BranchStart['askForTool'],
): Promise<LocalServices | null> {
  return LocalServices.start({
    ...{ ...resources, helpersFolder, driver: spec.sandbox, signal },
    sandboxOptions: sandboxOptions(spec, dockerCommand),
    askForTool: spec.roles === undefined ? undefined : askForTool,
    restarts: serviceRestarts,
  });
}

/** The task's facts for checks inside the sandbox. */
async function writeManifest({ folder, resources }: RunServices): Promise<void> {
  const { brief } = branchFolders(folder, mainBranch);
  mkdirSync(folder.folder, { recursive: true });
  writeFileSync(brief, JSON.stringify(publicManifest(resources)));
  await openToReaders(brief);
}

function beginSession(
  trace: TraceWriter,
  spec: RunSpec,
  { sessions, secondsUsed, onlyForked }: ResumeState,
  main: BranchWorkspace,
  { versions, resources, folder, threads }: RunServices,
): void {
  const { lease } = folder;
  trace.append({
    kind: 'session_started',
    session: sessions + 1,
    ...(lease === null ? {} : { epoch: lease.epoch }),
    versions: { ...versions, agent: spec.agent },
    snapshot: main.snapshot,
    ...(spec.parent !== undefined && onlyForked ? { parent: spec.parent } : {}),
    ...(sessions === 0 ? { limits: spec.limits, task: taskFacts(resources, trace) } : {}),
    workspace_held_by: main.heldBy,
    branches_at_once: branchesAtOnce(spec.limits, threads),
    repaired_bytes: trace.repairedBytes,
    seconds_used: secondsUsed,
  });
}

function taskFacts({ task }: TaskResources, trace: TraceWriter) {
  const { problem, entry, submission } = task.brief;
  return { problem: trace.textRef(problem), entry, submission: submission.files.map(({ path }) => path) };
}

function environmentOptions(
  spec: RunSpec,
  services: RunServices,
  trace: TraceWriter,
  resume: ResumeState,
  { folders, sandbox, snapshotter, snapshot }: BranchWorkspace,
  branches: SessionBranches,
): RunEnvironmentOptions {
  const { folder, resources, askPerson, gate, longestGateWait, threads, signal, onProgress } = services;
  const { task, prepared } = resources;
  return {
    task: task.brief,
    limits: spec.limits,
    folders: { workspace: folders.workspace, data: prepared.publicFolder, outputs: folders.outputs },
    isReadOnly: (path) => isReadOnly(task, path),
    fixedFiles: fixedFiles(task),
    ...{ sandbox, trace, snapshotter, objects: folder.objects },
    recorded: { ...resume.recorded, start: resume.recorded.start ?? snapshot },
    ...{ branches, branchesAtOnce: branchesAtOnce(spec.limits, threads), gate, longestGateWait },
    secondsUsedBefore: resume.secondsUsed,
    clock: spec.clock,
    ...{ askPerson, signal, onProgress },
  };
}

function runModels(
  { roles }: RunSpec,
  { models }: RunServices,
  { answeredBy, spent }: ResumeState,
  quota: Quota,
): RunModels | undefined {
  if (roles === undefined || models === undefined) return undefined;
  return {
    gateway: models.registry.gateway(roles, { quota, shared: models.shared }, { answeredBy }),
    spentBefore: spent,
  };
}

function runQuota({ limits: { tokens, money } }: RunSpec, { spent }: ResumeState): Quota {
  return new Quota({ of: 'this run', tokens, money, spent });
}

/** If a run's code ended a service, the run continued with a new one or without it, and the record says so. */
function withServicesEnd(ending: Ending, scriptFailure: string | null): Ending {
  if (scriptFailure === null) return ending;
  return { ...ending, message: `${sentence(ending.message)} During the run, ${scriptFailure}` };
}

async function endRun(
  environment: ActingEnvironment,
  trace: TraceWriter,
  { reason, message, finalAnswer }: Ending,
  claimed: AgentClaims | null,
): Promise<EventOf<'run_ended'>> {
  const { branch, ...state } = await environment.finalState();
  const event: EventOf<'run_ended'> = {
    kind: 'run_ended',
    ...(branch === 'main' ? {} : { branch }),
    reason,
    message,
    final_answer: finalAnswer === null ? null : trace.textRef(finalAnswer),
    ...state,
    seconds_used: environment.secondsUsed,
    ...(claimed === null ? {} : { claimed }),
    ...(environment.modelSeconds === 0 ? {} : { model_seconds: environment.modelSeconds }),
  };
  trace.append(event);
  return event;
}
