import { mkdirSync, writeFileSync } from 'node:fs';
import { type BranchStart, type Ending, RunEnvironment, type RunModels } from '../../environment/index.ts';
import { openToReaders } from '../../lib/open-to-readers.ts';
import { sentence } from '../../lib/sentence.ts';
import { Quota } from '../../models/index.ts';
import { sandboxOptions } from '../../sandbox/index.ts';
import type { EventOf, RunSpec } from '../../schema/index.ts';
import { LocalServices, serviceRestarts } from '../../services/index.ts';
import type { TraceWriter } from '../../store/index.ts';
import { fixedFiles, isReadOnly, publicManifest, type TaskResources } from '../workspace.ts';
import { type BranchWorkspace, branchFolders, mainBranch } from './branch-workspace.ts';
import { type ResumeState, readResumeState } from './resume-state.ts';
import { runAgent } from './run-agent.ts';
import type { RunOutcome } from './run-record.ts';
import type { RunServices } from './run-services.ts';
import { SessionBranches } from './session-branches.ts';

const notBegun = { kind: 'closed' as const, message: 'The run has not begun.' };

/**
 * One session of a run: everything that it needs is opened, the agent acts until the run ends, and the end is recorded.
 * @throws RunStopped, and what the infrastructure could not do: the trace then ends with the last finished step
 */
export async function executeSession(spec: RunSpec, services: RunServices): Promise<RunOutcome> {
  const { folder, resources, agent, dockerCommand, helpersFolder, threads, signal } = services;
  await using trace = folder.openTrace();
  const resume = readResumeState(folder, spec.parent);
  await writeManifest(services);
  await using branches = new SessionBranches({
    ...{ spec, folder, resources, helpersFolder, threads, dockerCommand, signal },
    startServices: (askForTool) => startServices(spec, services, askForTool),
  });
  // Before there is a workspace, no tool runs in it.
  let askForTool: BranchStart['askForTool'] = async () => notBegun;
  await using main = await branches.openMain(resume.workspace, (request) => askForTool(request));
  beginSession(trace, spec, resume, main, services);
  await using environment = openEnvironment(spec, services, trace, resume, main, branches);
  askForTool = (request) => environment.askForTool(request);
  const failure = await runAgent(agent, environment, spec, services.reference);
  const ending = await environment.end(
    failure === null
      ? { reason: 'agent_stopped', message: 'The agent stopped without a final answer.', finalAnswer: null }
      : { reason: 'agent_error', message: failure, finalAnswer: null },
  );
  signal.throwIfAborted();
  const { modelFailure, scriptFailure } = await branches.stopServices();
  if (modelFailure !== null) throw new Error(modelFailure);
  const { reason, message } = await endRun(environment, trace, withServicesEnd(ending, scriptFailure));
  return {
    status: 'finished',
    end: { reason, message },
    steps: environment.stepsTaken,
    seconds_used: environment.secondsUsed,
    spent: environment.spent,
  };
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

/** What checks inside the sandbox know of the task. */
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
  { versions, resources, folder }: RunServices,
): void {
  const { lease } = folder;
  trace.append({
    kind: 'session_started',
    session: sessions + 1,
    ...(lease === null ? {} : { epoch: lease.epoch }),
    versions: { ...versions, agent: spec.agent },
    snapshot: main.snapshot,
    ...(spec.parent !== undefined && onlyForked ? { parent: spec.parent } : {}),
    ...(sessions === 0 ? { limits: spec.limits, task: toldTask(resources, trace) } : {}),
    workspace_held_by: main.heldBy,
    repaired_bytes: trace.repairedBytes,
    seconds_used: secondsUsed,
  });
}

function toldTask({ task }: TaskResources, trace: TraceWriter) {
  const { problem, entry, submission } = task.brief;
  return { problem: trace.textRef(problem), entry, submission: submission.files.map(({ path }) => path) };
}

function openEnvironment(
  spec: RunSpec,
  services: RunServices,
  trace: TraceWriter,
  resume: ResumeState,
  { folders, sandbox, snapshotter, snapshot }: BranchWorkspace,
  branches: SessionBranches,
): RunEnvironment {
  const { folder, resources, askPerson, gate, longestGateWait, signal, onProgress } = services;
  const { task, prepared } = resources;
  return new RunEnvironment({
    task: task.brief,
    limits: spec.limits,
    folders: { workspace: folders.workspace, data: prepared.publicFolder, outputs: folders.outputs },
    isReadOnly: (path) => isReadOnly(task, path),
    fixedFiles: fixedFiles(task),
    ...{ sandbox, trace, snapshotter, objects: folder.objects },
    recorded: { ...resume.recorded, start: resume.recorded.start ?? snapshot },
    ...{ branches, gate, longestGateWait },
    secondsUsedBefore: resume.secondsUsed,
    models: runModels(spec, services, resume),
    ...{ askPerson, signal, onProgress },
  });
}

function runModels(
  { roles, limits }: RunSpec,
  { models }: RunServices,
  { answeredBy, spent }: ResumeState,
): RunModels | undefined {
  if (roles === undefined || models === undefined) return undefined;
  const { tokens, money } = limits;
  return {
    gateway: models.registry.gateway(
      roles,
      { quota: new Quota({ of: 'this run', tokens, money, spent }), shared: models.shared },
      { answeredBy },
    ),
    spentBefore: spent,
  };
}

/** A run whose code made a service end goes on with a new one, or without: the record says so. */
function withServicesEnd(ending: Ending, scriptFailure: string | null): Ending {
  if (scriptFailure === null) return ending;
  return { ...ending, message: `${sentence(ending.message)} During the run, ${scriptFailure}` };
}

async function endRun(
  environment: RunEnvironment,
  trace: TraceWriter,
  { reason, message, finalAnswer }: Ending,
): Promise<EventOf<'run_ended'>> {
  const { branch, snapshot, submission } = await environment.finalState();
  const event: EventOf<'run_ended'> = {
    kind: 'run_ended',
    ...(branch === 'main' ? {} : { branch }),
    reason,
    message,
    final_answer: finalAnswer === null ? null : trace.textRef(finalAnswer),
    snapshot,
    submission,
    seconds_used: environment.secondsUsed,
  };
  trace.append(event);
  return event;
}
