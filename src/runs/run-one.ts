import { chmodSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { cpus, hostname, release, totalmem } from 'node:os';
import { join } from 'node:path';
import type { Agent } from '../agents/index.ts';
import {
  type Ending,
  ExperimentSpent,
  ReplayDiverged,
  RunEnvironment,
  type RunModels,
  RunStopped,
  type StepProgress,
} from '../environment/index.ts';
import { messageOf } from '../lib/errors.ts';
import { removeTreeSlowly } from '../lib/read-only-tree.ts';
import { ModelUnavailable, Quota } from '../models/index.ts';
import {
  createSandbox,
  limitsHeld,
  openWorkspaceVolume,
  SandboxError,
  sandboxOptions,
} from '../sandbox/index.ts';
import type { EventOf, RunRecord, RunSpec, Spent } from '../schema/index.ts';
import { type AskForTool, LocalServices, serviceRestarts } from '../services/index.ts';
import { RunFolder, readTraceSync, sessionsOf, spentOf, stepsOf, type TraceWriter } from '../store/index.ts';
import { openWorkspace, type ResumeState } from './open-workspace.ts';
import type { ExperimentModels } from './tool-model.ts';
import { fixedFiles, isReadOnly, type RunFolders, sandboxSpec, type TaskResources } from './workspace.ts';

export interface RunServices {
  folder: RunFolder;
  resources: TaskResources;
  agent: Agent;
  /** Files of the reference solution; only for an agent that needs it. */
  reference: ReadonlyMap<string, string> | null;
  helpersFolder: string;
  /** For an agent that needs them: the run's language models, and what all runs of the experiment may use. */
  models?: ExperimentModels | undefined;
  /** Answers Request Help; absent: nobody does. */
  askPerson?: ((request: string, signal: AbortSignal) => Promise<string>) | undefined;
  /** The container engine's command; default: docker. */
  dockerCommand?: string | undefined;
  versions: Record<string, string>;
  /** Threads that numerical libraries may use. */
  threads: number;
  signal: AbortSignal;
  onProgress: (progress: StepProgress) => void;
}

const noServices = { modelFailure: null, scriptFailure: null };

/**
 * Executes one run, from the start or from where an earlier session of it ended, and returns its record.
 * Every ending is a value: what the agent did wrong, what the infrastructure did wrong, and being stopped.
 * The caller holds the run's lock.
 */
export async function runOne(spec: RunSpec, given: RunServices): Promise<RunRecord> {
  // What other runs add to the store that they share counts for them.
  const folder = new RunFolder(given.folder.folder, given.folder.objects.counted());
  const services = { ...given, folder };
  const record = newRecord(spec, services, await limitsHeld(spec.sandbox));
  services.folder.writeRecord(record);
  const finish = (changes: Partial<RunRecord>): RunRecord => {
    const finished = { ...record, ...changes, pid: null, updated: Date.now() };
    services.folder.writeRecord(finished);
    return finished;
  };
  try {
    const { ended, steps, seconds, spent } = await execute(spec, services);
    await discardWorkspace(services.folder, services.signal);
    const finished = finish({
      status: 'finished',
      end: { reason: ended.reason, message: ended.message },
      steps,
      seconds_used: seconds,
      ...(isNothing(spent) ? {} : { spent }),
    });
    await compressTrace(services.folder);
    return finished;
  } catch (error) {
    const done = recordedSoFar(services.folder);
    if (error instanceof RunStopped || services.signal.aborted)
      return finish({ status: 'interrupted', ...done });
    const end = { reason: 'infrastructure_error' as const, message: explained(error), ...causeOf(error) };
    return finish({ status: 'failed', end, ...done });
  }
}

/** Its last state is in the store. What can't be deleted changes nothing about the run. */
async function discardWorkspace(folder: RunFolder, signal: AbortSignal): Promise<void> {
  const { workspace, brief, outputs } = foldersOf(folder);
  try {
    await removeTreeSlowly(workspace, signal);
    rmSync(brief, { force: true });
    if (readdirSync(outputs).length === 0) rmdirSync(outputs);
    chmodSync(folder.folder, 0o777 & ~process.umask());
  } catch {
    // It lies there until the run's folder is deleted.
  }
}

/** A trace that can't be compressed, on a full disk say, stays as it is. */
export async function compressTrace(folder: RunFolder): Promise<void> {
  try {
    await folder.compressTrace();
  } catch {
    // The next `mlab run` of the experiment tries again.
  }
}

/** What a run that did not end properly has done. */
function recordedSoFar(folder: RunFolder): Partial<Pick<RunRecord, 'steps' | 'seconds_used' | 'spent'>> {
  try {
    const { events } = readTraceSync(folder.tracePath);
    const spent = spentOf(events);
    return {
      steps: stepsOf(events).length,
      seconds_used: sessionsOf(events).secondsUsed,
      ...(isNothing(spent) ? {} : { spent }),
    };
  } catch {
    // The trace may be what is broken.
    return {};
  }
}

function isNothing({ calls, tokens, unpriced }: Spent): boolean {
  return calls === 0 && tokens === 0 && unpriced === 0;
}

interface Executed {
  ended: EventOf<'run_ended'>;
  steps: number;
  seconds: number;
  spent: Spent;
}

async function execute(spec: RunSpec, services: RunServices): Promise<Executed> {
  const { folder, resources, agent, signal } = services;
  const { objects } = folder;
  const folders = foldersOf(folder);
  await using trace = folder.openTrace();
  const { versions } = services;
  await using volume = await openWorkspaceVolume(folders.workspace, spec.limits.workspace_mb * 2 ** 20);
  const resumed = await openWorkspace(spec, {
    folder,
    resources,
    folders,
    trace,
    versions,
    held: volume.holder,
    signal,
  });
  const { helpersFolder, threads } = services;
  const options = sandboxOptions(spec, services.dockerCommand);
  // Before there is a workspace, no tool runs in it.
  let askForTool: AskForTool = async () => ({ kind: 'closed', message: 'The run has not begun.' });
  await using local = await LocalServices.start({
    ...{ ...resources, helpersFolder, driver: spec.sandbox, sandboxOptions: options, signal },
    askForTool: spec.roles === undefined ? undefined : (request, until) => askForTool(request, until),
    restarts: serviceRestarts,
  });
  const confined = sandboxSpec(spec, resources, folders, helpersFolder, threads, local?.access ?? null);
  await using sandbox = await createSandbox(spec.sandbox, confined, options);
  await using environment = new RunEnvironment({
    task: resources.task.brief,
    limits: spec.limits,
    folders: {
      workspace: folders.workspace,
      data: resources.prepared.publicFolder,
      outputs: folders.outputs,
    },
    isReadOnly: (path) => isReadOnly(resources.task, path),
    fixedFiles: fixedFiles(resources.task),
    sandbox,
    trace,
    objects,
    snapshotter: resumed.snapshotter,
    recorded: resumed.recorded,
    secondsUsedBefore: resumed.secondsUsed,
    models: runModels(spec, services, resumed),
    askPerson: services.askPerson,
    signal,
    onProgress: services.onProgress,
  });
  askForTool = (request) => environment.askForTool(request);
  const failure = await runAgent(agent, environment, spec, services.reference);
  const ending = await environment.end(
    failure === null
      ? { reason: 'agent_stopped', message: 'The agent stopped without a final answer.', finalAnswer: null }
      : { reason: 'agent_error', message: failure, finalAnswer: null },
  );
  signal.throwIfAborted();
  const { modelFailure, scriptFailure } = (await local?.stop()) ?? noServices;
  if (modelFailure !== null) throw new Error(modelFailure);
  const ended = await endRun(environment, trace, withServicesEnd(ending, scriptFailure));
  return { ended, steps: environment.stepsTaken, seconds: environment.secondsUsed, spent: environment.spent };
}

function runModels(spec: RunSpec, { models }: RunServices, resumed: ResumeState): RunModels | undefined {
  if (spec.roles === undefined || models === undefined) return undefined;
  const { tokens, money } = spec.limits;
  const { answeredBy, spent } = resumed;
  return {
    models: models.registry.forRun(spec.roles, { answeredBy }),
    quota: new Quota({ of: 'this run', tokens, money, spent }),
    shared: models.shared,
    spentBefore: spent,
  };
}

/** Lets the agent act until it is done. Returns why it failed; null when it did not. */
async function runAgent(
  agent: Agent,
  environment: RunEnvironment,
  spec: RunSpec,
  reference: ReadonlyMap<string, string> | null,
): Promise<string | null> {
  const { seed, agent_options: options, experience } = spec;
  const done = new AbortController();
  try {
    const working = agent.run({ environment, seed, options, reference, experience });
    await Promise.race([working, environment.abandoned(done.signal)]);
    return null;
  } catch (error) {
    // What the harness could not do is told by the environment.
    if (environment.failure !== null) return null;
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  } finally {
    done.abort();
  }
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
  const { snapshot, submission } = await environment.finalState();
  const event: EventOf<'run_ended'> = {
    kind: 'run_ended',
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

function newRecord(
  spec: RunSpec,
  { folder, versions }: RunServices,
  held: Record<string, string>,
): RunRecord {
  const earlier = folder.readRecord();
  return {
    v: 1,
    spec,
    status: 'running',
    end: null,
    versions,
    host: {
      name: hostname(),
      system: `${process.platform} ${release()} ${process.arch}`,
      cores: cpus().length,
      memory_mb: Math.round(totalmem() / 2 ** 20),
      ...held,
    },
    pid: process.pid,
    started: earlier?.started ?? Date.now(),
    updated: Date.now(),
    steps: earlier?.steps ?? 0,
    seconds_used: earlier?.seconds_used ?? 0,
    ...(earlier?.spent === undefined ? {} : { spent: earlier.spent }),
  };
}

function foldersOf(folder: RunFolder): RunFolders {
  return {
    workspace: join(folder.folder, 'workspace'),
    outputs: folder.outputsFolder,
    brief: join(folder.folder, 'task.json'),
  };
}

const restartHint =
  'What the agent is told or how it decides has changed since: undo that, or start the run over (--incomplete restart).';

function explained(error: unknown): string {
  if (ModelUnavailable.isInstance(error))
    return `No answer from the language model: ${sentence(error.message)} ${error.hint}`;
  if (SandboxError.isInstance(error)) return `The sandbox can't start: ${error.message} ${error.hint}`;
  if (error instanceof ReplayDiverged) {
    return `It can't go on from its trace: ${error.message} ${restartHint}`;
  }
  return messageOf(error);
}

/** What broke, in one word, for reports that tell failures apart. */
function causeOf(error: unknown): { cause?: string } {
  if (ModelUnavailable.isInstance(error)) return { cause: error.failure };
  if (SandboxError.isInstance(error)) return { cause: 'sandbox' };
  if (error instanceof ExperimentSpent) return { cause: 'experiment_limit' };
  if (error instanceof ReplayDiverged) return { cause: 'replay_diverged' };
  return {};
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
