import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BranchPlaces, mountPoints, RunEnvironment, recordedRun } from '../src/environment/index.ts';
import { ModelGateway, Quota, ScriptedModels } from '../src/models/index.ts';
import { createWorkspace, isReadOnly, sandboxSpec, type TaskResources } from '../src/runs/index.ts';
import { createSandbox, type Sandbox } from '../src/sandbox/index.ts';
import type { SandboxDriver } from '../src/schema/index.ts';
import {
  createExperiment,
  type RunFolder,
  readTraceSync,
  resolveText,
  Snapshotter,
} from '../src/store/index.ts';
import { planFor } from './plans.ts';
import { helpersFolder } from './task-resources.ts';

export interface BenchRun extends AsyncDisposable {
  environment: RunEnvironment;
  folder: RunFolder;
  snapshotter: Snapshotter;
  /** Host folder. */
  workspace: string;
}

export interface BenchRunOptions {
  resources: TaskResources;
  /** Folder of the experiment; if it is opened again, the run resumes as after a kill. */
  folder: string;
  /** `none` if no command runs at all. */
  sandbox: SandboxDriver;
  /** Puts more files into the fresh workspace. */
  fill?: (workspace: string) => void;
  /** Answers model calls; default: a model that always gives the same answer. */
  gateway?: ModelGateway;
  signal: AbortSignal;
}

/** A run's environment over real files, as `mlab run` builds it, without an agent: the caller acts. */
export async function openBenchRun(options: BenchRunOptions): Promise<BenchRun> {
  const { resources, signal } = options;
  const plan = planFor(
    {
      name: 'bench',
      agent: 'noop',
      seeds: 1,
      grade: 'none',
      sandbox: options.sandbox,
      limits: { steps: 1_000_000, wall_seconds: 86_400, script_seconds: 5 },
    },
    resources,
  );
  const [spec] = plan.runs;
  if (spec === undefined) throw new Error('the plan has no run');
  const folder = createExperiment(options.folder, plan).runFolder(spec.id);
  const folders = {
    workspace: join(folder.folder, 'workspace'),
    outputs: join(folder.folder, 'outputs'),
    brief: join(folder.folder, 'task.json'),
  };
  await using opened = new AsyncDisposableStack();
  opened.use(folder.lock());
  const trace = opened.use(folder.openTrace());
  const { events } = readTraceSync(folder.tracePath);
  if (events.length === 0) {
    await createWorkspace(resources.task, folders.workspace);
    options.fill?.(folders.workspace);
  }
  mkdirSync(folders.outputs, { recursive: true });
  writeFileSync(folders.brief, JSON.stringify(resources.task.brief));
  const snapshotter = new Snapshotter(folder.objects, folders.workspace);
  const { id } = await snapshotter.take({ ignore: mountPoints, signal });
  trace.append({
    kind: 'session_started',
    session: events.length === 0 ? 1 : 2,
    versions: {},
    snapshot: id,
    repaired_bytes: trace.repairedBytes,
    seconds_used: 0,
  });
  const sandbox = opened.use(
    await createSandbox(options.sandbox, sandboxSpec(spec, resources, folders, helpersFolder, 1)),
  );
  const environment = opened.use(
    new RunEnvironment({
      task: resources.task.brief,
      limits: spec.limits,
      folders: {
        workspace: folders.workspace,
        data: resources.prepared.publicFolder,
        outputs: folders.outputs,
      },
      isReadOnly: (path) => isReadOnly(resources.task, path),
      sandbox,
      branches: branchesIn(folder, sandbox, signal),
      trace,
      objects: folder.objects,
      snapshotter,
      recorded: { ...recordedRun(events, (ref) => resolveText(folder.objects, ref)), start: id },
      secondsUsedBefore: 0,
      // A model and a person, so that every action is offered.
      models: {
        gateway:
          options.gateway ??
          new ModelGateway({
            models: new ScriptedModels(() => 'print(1)'),
            quota: new Quota({ of: 'this run' }),
          }),
        spentBefore: { calls: 0, tokens: 0, money: 0, unpriced: 0 },
      },
      askPerson: async () => 'Go on.',
      signal,
    }),
  );
  const everything = opened.move();
  return {
    ...{ environment, folder, snapshotter },
    workspace: folders.workspace,
    [Symbol.asyncDispose]: () => everything.disposeAsync(),
  };
}

/** Workspaces beside the run's own; nothing is executed in them. */
function branchesIn({ folder, objects }: RunFolder, sandbox: Sandbox, signal: AbortSignal): BranchPlaces {
  const homeOf = (branch: string) => join(folder, 'branches', branch);
  return {
    outputsFolder: (branch) => join(homeOf(branch), 'outputs'),
    open: async (branch, { snapshot, near }) => {
      const home = homeOf(branch);
      const folders = { workspace: join(home, 'workspace'), outputs: join(home, 'outputs') };
      mkdirSync(folders.outputs, { recursive: true });
      const snapshotter = new Snapshotter(objects, folders.workspace);
      await snapshotter.restore(snapshot, { ignore: mountPoints, from: near, signal });
      return {
        ...{ folders, sandbox, snapshotter },
        discard: async () => rmSync(home, { recursive: true }),
        [Symbol.asyncDispose]: async () => {},
      };
    },
  };
}
