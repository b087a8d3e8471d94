import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, hostname, release, totalmem } from 'node:os';
import { join } from 'node:path';
import type { Agent } from '../agents/index.ts';
import {
  mountPoints,
  type RecordedRun,
  ReplayDiverged,
  RunEnvironment,
  RunStopped,
  recordedRun,
  type StepProgress,
} from '../environment/index.ts';
import { messageOf } from '../lib/errors.ts';
import { removeTree } from '../lib/read-only-tree.ts';
import { createSandbox, SandboxError, sandboxOptions } from '../sandbox/index.ts';
import type { EndReason, EventOf, RunRecord, RunSpec } from '../schema/index.ts';
import {
  lastSnapshot,
  type RunFolder,
  readTraceSync,
  resolveText,
  restoreSnapshot,
  Snapshotter,
  sessionsOf,
  stepsOf,
  type TraceWriter,
} from '../store/index.ts';
import { LocalServices } from './local-services.ts';
import {
  createWorkspace,
  fixedFiles,
  isReadOnly,
  type RunFolders,
  sandboxSpec,
  type TaskEquipment,
} from './workspace.ts';

export interface RunServices {
  folder: RunFolder;
  equipment: TaskEquipment;
  agent: Agent;
  /** Files of the reference solution; only for an agent that needs it. */
  reference: ReadonlyMap<string, string> | null;
  helpersFolder: string;
  /** The container engine's command; default: docker. */
  dockerCommand?: string | undefined;
  versions: Record<string, string>;
  /** Threads that numerical libraries may use. */
  threads: number;
  signal: AbortSignal;
  onProgress: (progress: StepProgress) => void;
}

/**
 * Carries out one run, from the start or from where an earlier session of it ended, and returns its record.
 * Every ending is a value: what the agent did wrong, what the infrastructure did wrong, and being stopped.
 * The caller holds the run's lock.
 */
export async function runOne(spec: RunSpec, services: RunServices): Promise<RunRecord> {
  const record = newRecord(spec, services);
  services.folder.writeRecord(record);
  const finish = (changes: Partial<RunRecord>): RunRecord => {
    const finished = { ...record, ...changes, pid: null, updated: Date.now() };
    services.folder.writeRecord(finished);
    return finished;
  };
  try {
    const { ended, steps, seconds } = await workOn(spec, services);
    discardWorkspace(services.folder);
    return finish({
      status: 'finished',
      end: { reason: ended.reason, message: ended.message },
      steps,
      seconds_used: seconds,
    });
  } catch (error) {
    const done = recordedSoFar(services.folder);
    if (error instanceof RunStopped || services.signal.aborted)
      return finish({ status: 'interrupted', ...done });
    const end = { reason: 'infrastructure_error' as const, message: explained(error) };
    return finish({ status: 'failed', end, ...done });
  }
}

/** Its last state is in the store. A folder that can't be deleted changes nothing about the run. */
function discardWorkspace(folder: RunFolder): void {
  try {
    removeTree(foldersOf(folder).workspace);
  } catch {
    // It lies there until the run's folder is deleted.
  }
}

/** Steps and seconds of a run that did not end properly. */
function recordedSoFar(folder: RunFolder): { steps?: number; seconds_used?: number } {
  try {
    const { events } = readTraceSync(folder.tracePath);
    return { steps: stepsOf(events).length, seconds_used: sessionsOf(events).secondsUsed };
  } catch {
    // The trace may be what is broken.
    return {};
  }
}

interface Worked {
  ended: EventOf<'run_ended'>;
  steps: number;
  seconds: number;
}

async function workOn(spec: RunSpec, services: RunServices): Promise<Worked> {
  const { folder, equipment, agent, signal } = services;
  const { objects } = folder;
  const folders = foldersOf(folder);
  await using trace = folder.openTrace();
  const past = await openWorkspace(spec, services, folders, trace);
  const { helpersFolder, threads } = services;
  const options = sandboxOptions(spec, services.dockerCommand);
  await using local = await LocalServices.start(spec, equipment, helpersFolder, options, signal);
  const confined = sandboxSpec(spec, equipment, folders, helpersFolder, threads, local?.folder ?? null);
  await using sandbox = await createSandbox(spec.sandbox, confined, options);
  await using environment = new RunEnvironment({
    task: equipment.task.brief,
    limits: spec.limits,
    folders: {
      workspace: folders.workspace,
      data: equipment.prepared.publicFolder,
      outputs: folders.outputs,
    },
    isReadOnly: (path) => isReadOnly(equipment.task, path),
    fixedFiles: fixedFiles(equipment.task),
    sandbox,
    trace,
    objects,
    snapshotter: past.snapshotter,
    recorded: past.recorded,
    secondsUsedBefore: past.secondsUsed,
    signal,
    onProgress: services.onProgress,
  });
  const failure = await runAgent(agent, environment, spec, services.reference);
  signal.throwIfAborted();
  if (environment.failure !== null) throw environment.failure.error;
  const serviceFailure = await local?.stop();
  if (serviceFailure) throw new Error(serviceFailure);
  const ended = await endRun(environment, trace, failure);
  return { ended, steps: environment.stepsTaken, seconds: environment.secondsUsed };
}

/** Makes the workspace what it was after the last finished step, and begins a session in the trace. */
async function openWorkspace(
  spec: RunSpec,
  { folder, equipment, versions, signal }: RunServices,
  folders: RunFolders,
  trace: TraceWriter,
): Promise<{ snapshotter: Snapshotter; recorded: RecordedRun; secondsUsed: number }> {
  const { objects } = folder;
  mkdirSync(folders.outputs, { recursive: true });
  writeFileSync(folders.brief, JSON.stringify(publicManifest(equipment)));
  const { events } = readTraceSync(folder.tracePath);
  const last = lastSnapshot(events);
  if (last === null) createWorkspace(equipment.task, folders.workspace);
  else await restoreSnapshot(objects, last.snapshot, folders.workspace, { ignore: mountPoints, signal });
  const { sessions, secondsUsed } = sessionsOf(events);
  const snapshotter = new Snapshotter(objects, folders.workspace);
  const { id } = await snapshotter.take({ ignore: mountPoints, signal });
  trace.append({
    kind: 'session_started',
    session: sessions + 1,
    versions: { ...versions, agent: spec.agent },
    snapshot: id,
    repaired_bytes: trace.repairedBytes,
    seconds_used: secondsUsed,
  });
  return { snapshotter, recorded: recordedRun(events, (ref) => resolveText(objects, ref)), secondsUsed };
}

/** What checks inside the sandbox know of the task: nothing secret. */
function publicManifest({ task }: TaskEquipment): object {
  return { metric: task.file.metric, submission: task.file.submission };
}

/** Lets the agent act until it is done. Returns why it failed; null when it did not. */
async function runAgent(
  agent: Agent,
  environment: RunEnvironment,
  spec: RunSpec,
  reference: ReadonlyMap<string, string> | null,
): Promise<string | null> {
  try {
    await agent.run({ environment, seed: spec.seed, options: spec.agent_options, reference });
    return null;
  } catch (error) {
    // What the harness could not do is told by the environment.
    if (environment.failure !== null) return null;
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}

async function endRun(
  environment: RunEnvironment,
  trace: TraceWriter,
  failure: string | null,
): Promise<EventOf<'run_ended'>> {
  const { snapshot, submission } = await environment.finalState();
  const ending = environment.ending;
  const reason: EndReason = ending?.reason ?? (failure === null ? 'agent_stopped' : 'agent_error');
  const event: EventOf<'run_ended'> = {
    kind: 'run_ended',
    reason,
    message: ending?.message ?? failure ?? 'The agent stopped without a final answer.',
    final_answer: ending?.finalAnswer == null ? null : trace.textRef(ending.finalAnswer),
    snapshot,
    submission,
    seconds_used: environment.secondsUsed,
  };
  trace.append(event);
  return event;
}

function newRecord(spec: RunSpec, { folder, versions }: RunServices): RunRecord {
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
    },
    pid: process.pid,
    started: earlier?.started ?? Date.now(),
    updated: Date.now(),
    steps: earlier?.steps ?? 0,
    seconds_used: earlier?.seconds_used ?? 0,
  };
}

function foldersOf(folder: RunFolder): RunFolders {
  return {
    workspace: join(folder.folder, 'workspace'),
    outputs: join(folder.folder, 'outputs'),
    brief: join(folder.folder, 'task.json'),
  };
}

function explained(error: unknown): string {
  if (SandboxError.isInstance(error)) return `The sandbox can't start: ${error.message} ${error.hint}`;
  if (error instanceof ReplayDiverged) {
    return `It can't go on from its trace: ${error.message} Start it over with --broken restart.`;
  }
  return messageOf(error);
}
