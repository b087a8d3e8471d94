import { basename, join } from 'node:path';
import { z } from 'zod';
import {
  type AgentContext,
  AgentDescription,
  descriptionProblems,
  type FoundAgent,
  refuseTakenName,
  versionOf,
} from '../../agents/index.ts';
import { AsyncDisposableStack } from '../../lib/disposable-stack.ts';
import { UserError } from '../../lib/errors.ts';
import { openToReaders } from '../../lib/open-to-readers.ts';
import { createSandbox, type Sandbox } from '../../sandbox/index.ts';
import { type AgentRunParams, agentProtocol, programOutput, type SandboxDriver } from '../../schema/index.ts';
import { ensurePython } from '../../tasks/index.ts';
import { AgentFailed, AgentProcess, type AgentRequests } from './agent-process.ts';
import { EnvironmentConversation } from './answer-agent.ts';
import {
  chosenSources,
  folderOf,
  hashOfSources,
  type PythonSources,
  sourcesBeside,
} from './python-sources.ts';

/** The path, in its sandbox, of the agent's files and of the package that it imports. */
const agentInside = '/agent';
const packageInside = '/agent-package';
const firstWordMs = 60_000;
const hint = 'docs/how-to/write-an-agent-in-python.md has a complete example.';

/** What is needed to start an agent's process. */
export interface AgentPlace {
  cache: string;
  /** The folder `python` of mlab. */
  helpersFolder: string;
  driver: SandboxDriver;
  dockerCommand?: string | undefined;
  dockerImage?: string | undefined;
  interpreter?: string | undefined;
  signal: AbortSignal;
  onProgress: (line: string) => void;
}

/** Its description, and which files of its folder it has imported. */
const Introduction = AgentDescription.extend({ protocol: z.int(), files: z.array(z.string()).max(10_000) });

/**
 * Loads an agent from a Python file. It is a process in its own sandbox: without a network, without the run's
 * workspace, and with no files of this machine except its imports from its own folder.
 * @param path absolute
 * @throws UserError if it can't be loaded, or is not an agent
 */
export async function loadPythonAgent(path: string, place: AgentPlace): Promise<FoundAgent> {
  const all = sourcesBeside(path);
  const { described, sources } = await describe(path, all, place);
  const folder = await folderOf(sources, place.cache, place.signal);
  return {
    agent: {
      ...described,
      run: (context) => runAgent(path, folder, context, place),
    },
    source: { path, sha256: hashOfSources(sources), ...versionOf(described) },
  };
}

async function describe(path: string, all: PythonSources, place: AgentPlace) {
  const folder = await folderOf(all, place.cache, place.signal);
  await using started = await startProcess(path, folder, place);
  try {
    const introduction = await initialize(started.process, place.signal);
    const read = Introduction.safeParse(introduction, { reportInput: true });
    if (!read.success) throw new AgentFailed(descriptionProblems(read.error));
    const { protocol, files, ...described } = read.data;
    if (protocol !== agentProtocol)
      throw new AgentFailed(`It speaks version ${protocol} of the protocol, not ${agentProtocol}.`);
    refuseTakenName(described, path);
    return { described, sources: chosenSources(all, [basename(path), ...files]) };
  } catch (error) {
    if (!(error instanceof AgentFailed)) throw error;
    throw new UserError('bad_agent', `${path} can't be loaded: ${error.message}`, hint, { cause: error });
  }
}

async function initialize(process: AgentProcess, signal: AbortSignal): Promise<unknown> {
  const silence = AbortSignal.timeout(firstWordMs);
  const early: AgentRequests = {
    answer: async (requests) =>
      requests.map(() => ({ error: { code: -32600, message: 'no run has begun' } })),
    notified: () => {},
  };
  try {
    return await process.request(
      'initialize',
      { protocol: agentProtocol },
      early,
      AbortSignal.any([silence, signal]),
    );
  } catch (error) {
    if (silence.aborted && !signal.aborted)
      throw process.failed(
        `Loading it took more than ${firstWordMs / 1000} s: is there a loop outside the function?`,
      );
    throw error;
  }
}

async function runAgent(
  path: string,
  folder: string,
  context: AgentContext,
  place: AgentPlace,
): Promise<void> {
  const { environment, seed, options, resources } = context;
  await using started = await startProcess(path, folder, place);
  // Aborted if the run ends before the agent does.
  const over = new AbortController();
  let isDone = false;
  resources?.defer(async () => {
    const { printed } = started.process;
    // At a time limit this shows where it hangs. A stopped run is resumed later.
    if (!isDone && !place.signal.aborted && printed !== '') environment.note({ [programOutput]: printed });
    over.abort();
    await started[Symbol.asyncDispose]();
  });
  await initialize(started.process, place.signal);
  const { task, actions, budget } = environment;
  const params: AgentRunParams = { task, actions: [...actions], budget, seed, options };
  const signal = AbortSignal.any([place.signal, over.signal]);
  try {
    await started.process.request('run', params, new EnvironmentConversation(environment), signal);
  } finally {
    isDone = true;
  }
}

interface Started extends AsyncDisposable {
  process: AgentProcess;
}

async function startProcess(path: string, folder: string, place: AgentPlace): Promise<Started> {
  const { cache, interpreter, onProgress, signal } = place;
  const python = await ensurePython('', { cache, interpreter: interpreter ?? null, onProgress, signal });
  await using opened = new AsyncDisposableStack();
  const sandbox = opened.use(await openSandbox(folder, python, place));
  const argv = [
    'python',
    '-X',
    'utf8',
    '-m',
    'mlagentbench_agent',
    join(sandbox.pathInside(agentInside), basename(path)),
  ] as const;
  const process = opened.use(await AgentProcess.start(sandbox, argv));
  const everything = opened.move();
  return { process, [Symbol.asyncDispose]: () => everything.disposeAsync() };
}

async function openSandbox(
  folder: string,
  { environment, basePrefix }: { environment: string; basePrefix: string },
  { driver, dockerCommand, dockerImage, helpersFolder }: AgentPlace,
): Promise<Sandbox> {
  await openToReaders(folder);
  const megabyte = 2 ** 20;
  const target = packageInside;
  const mounts = [
    { source: folder, target: agentInside, access: 'read' as const },
    { source: join(helpersFolder, 'agent'), target, access: 'read' as const },
  ];
  const packageSeen = driver === 'none' ? join(helpersFolder, 'agent') : target;
  return await createSandbox(
    driver,
    {
      ...{ mounts, hide: [], withheld: [], concealed: [] },
      workingDirectory: '/tmp',
      variables: { PYTHONPATH: packageSeen, PYTHONDONTWRITEBYTECODE: '1', PYTHONHASHSEED: '0' },
      python: { environment, basePrefix },
      limits: {
        memoryBytes: 2048 * megabyte,
        processes: 64,
        fileBytes: 256 * megabyte,
        temporaryBytes: 256 * megabyte,
      },
      watch: null,
    },
    {
      ...(dockerCommand === undefined ? {} : { dockerCommand }),
      ...(dockerImage === undefined ? {} : { dockerImage }),
    },
  );
}
