import { type ChildProcess, execFile } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { release } from 'node:os';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { z } from 'zod';
import { messageOf } from '../lib/errors.ts';
import { processStartTime } from '../lib/process-identity.ts';
import { asUser, findUserSwitch, prepareFor, userWithoutAccount } from './agent-user.ts';
import { type BubblewrapFeatures, bubblewrapArguments } from './bubblewrap-arguments.ts';
import { confinedSandbox } from './confined-sandbox.ts';
import { signalName } from './exit-signal.ts';
import { findProgram } from './find-program.ts';
import { type WatchedFolder, watchedFolder } from './folder-watch.ts';
import { type Limiter, type LimitGroup, ungrouped } from './limits/limiter.ts';
import { planMounts } from './mount-plan.ts';
import { checkMountTargets } from './mount-targets.ts';
import { descendantsOf, signalAll } from './process-tree.ts';
import { insideUser, RuntimeFolder } from './runtime-folder.ts';
import { type Sandbox, SandboxError, type SandboxSpec, type StartOptions } from './sandbox.ts';
import { seccompFilter } from './seccomp.ts';
import { firstCommand, outerCommand } from './shell.ts';
import type { CommandRun } from './supervisor.ts';
import { userNamespaceHint } from './user-namespaces.ts';

/** The monitor on the host and the first process of the namespace. */
const ownProcesses = 2;
/** A single process may ask for this many times the limit before it is refused: the watchdog acts on the sum. */
const dataFactor = 2;
const deathMs = 10_000;

export const installHint = 'sudo apt-get install bubblewrap';

/** @throws SandboxError when bubblewrap is missing; that it can't confine for this user shows at the first command. */
export async function bubblewrapSandbox(spec: SandboxSpec, limiter: Limiter): Promise<Sandbox> {
  const program = findProgram('bwrap');
  if (program === null) throw new SandboxError('bubblewrap (bwrap) is not installed', installHint);
  const setpriv = await findUserSwitch(program);
  const user = setpriv === null ? null : userWithoutAccount(spec);
  const features = { ...(await featuresOf(program)), switchesUser: user !== null };
  const runtime = new RuntimeFolder(user ?? insideUser);
  try {
    if (user !== null) await prepareFor(user, spec);
    const filter = seccompFilter(process.arch, { countsAllMemory: limiter !== ungrouped });
    const mounts = await planMounts(spec, 'host', runtime);
    if (user !== null) runtime.openToReaders();
    const context: Context = {
      program,
      spec,
      limiter,
      argumentFile: runtime.write('arguments', nulSeparated(bubblewrapArguments(spec, mounts, features))),
      filterFile: filter === null ? null : runtime.write('filter', filter),
      folder: watchedFolder(spec.watch),
      become: setpriv === null || user === null ? [] : asUser(setpriv, user),
    };
    return confinedSandbox({
      driver: 'bubblewrap',
      runtime,
      pathInside: (target) => target,
      prepare: (argv, marker, options) => {
        checkMountTargets(spec.mounts);
        return new BubblewrapRun(context, argv, marker, options);
      },
      dispose: async () => {},
    });
  } catch (error) {
    runtime[Symbol.dispose]();
    throw error;
  }
}

interface Context {
  program: string;
  spec: SandboxSpec;
  limiter: Limiter;
  argumentFile: string;
  filterFile: string | null;
  folder: WatchedFolder | null;
  /** See `FirstOptions`. */
  become: string[];
}

type ProgramFeatures = Pick<BubblewrapFeatures, 'disableUserNamespaces'>;
const knownFeatures = new Map<string, Promise<ProgramFeatures>>();

/** Asked once of each program. */
function featuresOf(program: string): Promise<ProgramFeatures> {
  const features = knownFeatures.get(program) ?? askFeatures(program);
  knownFeatures.set(program, features);
  features.catch(() => knownFeatures.delete(program));
  return features;
}

async function askFeatures(program: string): Promise<ProgramFeatures> {
  try {
    const { stdout } = await promisify(execFile)(program, ['--help'], { env: {} });
    return { disableUserNamespaces: stdout.includes('--disable-userns') };
  } catch (error) {
    throw new SandboxError(`bubblewrap does not run: ${messageOf(error)}`, installHint, { cause: error });
  }
}

class BubblewrapRun implements CommandRun {
  readonly spawn: CommandRun['spawn'];
  readonly watch: CommandRun['watch'];
  readonly #group: LimitGroup;
  readonly #files: number[] = [];
  /** Enough to see that there are too many. */
  readonly #most: number;
  #child: ChildProcess | null = null;
  /** First process of the namespace; its death is the death of all in it. */
  #first: { pid: number; started: string } | null = null;

  constructor(context: Context, argv: readonly string[], marker: string, options: StartOptions) {
    const { spec, limiter } = context;
    const processes = spec.limits.processes + ownProcesses;
    this.#most = processes * 2;
    const paths = [context.argumentFile, ...(context.filterFile === null ? [] : [context.filterFile])];
    try {
      for (const path of paths) this.#files.push(openSync(path, 'r'));
      this.#group = limiter.open({ ...spec.limits, processes });
    } catch (error) {
      this.#closeFiles();
      throw error;
    }
    const ungrouped = this.#group.joinFiles.length === 0;
    const switches = context.become.length > 0;
    const command = [
      context.program,
      '--args',
      '4',
      '--json-status-fd',
      '3',
      ...(context.filterFile === null ? [] : ['--seccomp', '5']),
      '--chdir',
      '/',
      '--',
      ...firstCommand(marker, argv, {
        folder: options.workingDirectory ?? spec.workingDirectory,
        become: context.become,
        processes: ungrouped && (switches || countsProcessesByNamespace()) ? processes : null,
      }),
    ];
    const dataBytes = ungrouped && !spec.gpu ? spec.limits.memoryBytes * dataFactor : null;
    this.spawn = {
      command: outerCommand(this.#group.joinFiles, spec.limits, dataBytes, command),
      // The first process inside shows its environment to all others: nothing of the host's may be in it.
      environment: {},
      folder: '/',
      extraFiles: ['pipe', ...this.#files],
    };
    this.watch = {
      processes: () => this.#inside(),
      folder: context.folder,
      sums: ungrouped
        ? { memoryBytes: spec.limits.memoryBytes, processes: spec.limits.processes, isApart: true }
        : null,
      ...(ungrouped ? {} : { netlinkBytes: spec.limits.memoryBytes }),
    };
  }

  async attach(child: ChildProcess): Promise<void> {
    this.#child = child;
    this.#closeFiles();
    const pid = await firstProcess(child);
    const started = pid === null ? null : processStartTime(pid);
    this.#first = pid === null || started === null ? null : { pid, started };
  }

  terminate(): void {
    signalAll(this.#inside(), 'SIGTERM');
  }

  /**
   * Only the first process is killed: the kernel takes the others with it, and bubblewrap on the host, which waits
   * for it, can collect it. Were both killed, it would stay a zombie on hosts whose init collects nothing.
   */
  async destroy(): Promise<void> {
    const first = this.#first;
    if (first === null) signalAll(this.#beforeFirst(), 'SIGKILL');
    const deadline = performance.now() + deathMs;
    for (let pause = 1; performance.now() < deadline; pause = Math.min(pause * 2, 50)) {
      const lives = first !== null && processStartTime(first.pid) === first.started;
      if (!lives && !this.#waits()) return;
      if (first !== null && lives) signalAll([first.pid], 'SIGKILL');
      await sleep(pause);
    }
    this.#child?.kill('SIGKILL');
  }

  async usage() {
    return this.#group.usage();
  }

  /** Bubblewrap hands on a signal as 128 and its number, as a shell does. */
  async translate(exitCode: number | null, signal: string | null) {
    const name = exitCode === null || exitCode <= 128 ? null : signalName(exitCode - 128);
    return name === null ? { exitCode, signal } : { exitCode: null, signal: name };
  }

  release(): Promise<void> {
    this.#closeFiles();
    return this.#group.close();
  }

  explain(message: string): SandboxError {
    const reason = message.replace(/^bwrap: /gm, '');
    return new SandboxError(`bubblewrap could not start the sandbox: ${reason}`, userNamespaceHint(reason));
  }

  /** All processes of the namespace but the first, which only waits and can't be terminated politely. */
  #inside(): number[] {
    const first = this.#first?.pid;
    if (first === undefined) return [];
    const members = this.#group.members();
    if (members.length === 0) return descendantsOf(first, this.#most);
    return members.filter((pid) => pid !== first && pid !== this.#child?.pid);
  }

  /** What there is while the namespace is being made. */
  #beforeFirst(): number[] {
    const pid = this.#child?.pid;
    return pid === undefined || !this.#waits() ? [] : [...descendantsOf(pid, this.#most), pid];
  }

  /** Whether bubblewrap on the host still runs. */
  #waits(): boolean {
    return this.#child?.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  #closeFiles(): void {
    for (const file of this.#files.splice(0)) closeSync(file);
  }
}

const Status = z.object({ 'child-pid': z.int().positive() });

/**
 * The host id of the namespace's first process. Only the first line is read: bubblewrap writes it before anything
 * inside runs.
 */
async function firstProcess(child: ChildProcess): Promise<number | null> {
  const stream = child.stdio[3] as Readable | undefined;
  if (stream === undefined) return null;
  stream.on('error', () => {});
  for await (const line of createInterface({ input: stream })) {
    stream.resume();
    return Status.parse(JSON.parse(line))['child-pid'];
  }
  return null;
}

/** Since Linux 5.14; before, the limit would count all that this user runs on the host. */
function countsProcessesByNamespace(): boolean {
  const [major = 0, minor = 0] = release()
    .split('.')
    .map((part) => Number.parseInt(part, 10));
  return major > 5 || (major === 5 && minor >= 14);
}

function nulSeparated(values: readonly string[]): string {
  return values.map((value) => `${value}\0`).join('');
}
