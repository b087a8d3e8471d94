import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { unlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { confinedSandbox } from './confined-sandbox.ts';
import { type WatchedFolder, watchedFolder } from './folder-watch.ts';
import type { Limiter } from './limits/limiter.ts';
import { OutputPipes } from './output-pipe.ts';
import { isOrphaned, ownedName } from './owner.ts';
import { isWithin } from './paths.ts';
import { descendantsOf, processesWithVariable, signalAll } from './process-tree.ts';
import { RuntimeFolder } from './runtime-folder.ts';
import { type Mount, type Sandbox, SandboxError, type SandboxSpec, type StartOptions } from './sandbox.ts';
import { directCommand, outerCommand } from './shell.ts';
import { type SpawnedCommand, spawnCommand } from './spawned-command.ts';
import { newMarker } from './start-marker.ts';
import type { CommandRun } from './supervisor.ts';
import { variablesOf } from './variables.ts';

const tagVariable = 'MLAB_COMMAND';
const deathMs = 10_000;

/** Commands that have not ended: nothing ends them with this process but itself. */
const running = new Set<UnconfinedRun>();
let isWatching = false;

function watchOver(command: UnconfinedRun): void {
  running.add(command);
  if (isWatching) return;
  isWatching = true;
  process.on('exit', () => {
    for (const each of running) each.kill();
  });
}

/** Plain processes of this user in the real folders: no confinement at all, only limits. */
export async function unconfinedSandbox(spec: SandboxSpec, limiter: Limiter): Promise<Sandbox> {
  endOrphans();
  const runtime = new RuntimeFolder();
  const links: string[] = [];
  try {
    linkMounts(spec.mounts, links);
    const home = join(runtime.path, 'home');
    mkdirSync(home);
    const pipes = new OutputPipes(runtime.path);
    const context = { spec, limiter, home, pipes, folder: watchedFolder(spec.watch) };
    return confinedSandbox({
      driver: 'none',
      runtime,
      pathInside: (target) => sourceOf(target, spec.mounts),
      prepare: (argv, options) => new UnconfinedRun(context, argv, options),
      dispose: () => removeLinks(links),
    });
  } catch (error) {
    await removeLinks(links);
    runtime[Symbol.dispose]();
    throw error;
  }
}

/** The host path of an inside path. */
export function sourceOf(target: string, mounts: readonly Mount[]): string {
  const holding = mounts.filter((mount) => isWithin(mount.target, target));
  const nearest = holding.sort((first, second) => first.target.length - second.target.length).at(-1);
  return nearest === undefined ? target : join(nearest.source, relative(nearest.target, target));
}

let areOrphansEnded = false;

/** Once per process: ends commands of harnesses that were killed, which would go on writing into their workspaces. */
function endOrphans(): void {
  if (areOrphansEnded) return;
  areOrphansEnded = true;
  const judged = new Map<string, boolean>();
  const isOrphan = (name: string) => isOrphaned(name, judged);
  signalAll(processesWithVariable(tagVariable, isOrphan), 'SIGKILL');
}

interface Context {
  spec: SandboxSpec;
  limiter: Limiter;
  home: string;
  pipes: OutputPipes;
  folder: WatchedFolder | null;
}

class UnconfinedRun implements CommandRun, SpawnedCommand {
  readonly spawn: SpawnedCommand['spawn'];
  readonly marker = newMarker();
  readonly watch: CommandRun['watch'];
  readonly #group;
  readonly #pipes: OutputPipes;
  /** Unique to this command among all sandboxes: every process that has it is killed with this command. */
  readonly #tag = ownedName(randomBytes(8).toString('hex'));
  /** Enough to detect that there are too many. */
  readonly #most: number;
  #child: ChildProcess | null = null;

  constructor(
    { spec, limiter, home, pipes, folder }: Context,
    argv: readonly string[],
    options: StartOptions,
  ) {
    this.#pipes = pipes;
    this.#group = limiter.open(spec.limits);
    this.#most = spec.limits.processes * 2;
    const ungrouped = this.#group.joinFiles.length === 0;
    this.spawn = {
      command: outerCommand(this.#group.joinFiles, spec.limits, null, directCommand(this.marker, argv)),
      environment: { ...variablesOf(spec), HOME: home, TMPDIR: home, [tagVariable]: this.#tag },
      folder: sourceOf(options.workingDirectory ?? spec.workingDirectory, spec.mounts),
    };
    this.watch = {
      processes: () => this.#near(),
      folder,
      sums: ungrouped
        ? { memoryBytes: spec.limits.memoryBytes, processes: spec.limits.processes, isApart: false }
        : null,
    };
  }

  begin(options: StartOptions) {
    watchOver(this);
    return spawnCommand(this, this.#pipes, options);
  }

  async attach(child: ChildProcess): Promise<void> {
    this.#child = child;
  }

  terminate(): void {
    signalAll(this.#all(), 'SIGTERM');
  }

  kill(): void {
    signalAll(this.#all(), 'SIGKILL');
  }

  async destroy(): Promise<void> {
    const deadline = performance.now() + deathMs;
    for (let left = this.#all(); left.length > 0 && performance.now() < deadline; left = this.#all()) {
      signalAll(left, 'SIGKILL');
      await sleep(2);
    }
  }

  async usage() {
    return this.#group.usage();
  }

  async translate(exitCode: number | null, signal: string | null) {
    return { exitCode, signal };
  }

  release(): Promise<void> {
    running.delete(this);
    return this.#group.close();
  }

  explain(message: string): SandboxError {
    return new SandboxError(`the command could not be started: ${message}`, 'check the folders of the run');
  }

  #near(): number[] {
    const members = this.#group.members();
    if (members.length > 0 || this.#child?.pid === undefined) return members;
    return this.#lives() ? [this.#child.pid, ...descendantsOf(this.#child.pid, this.#most)] : [];
  }

  /** Also those that left the tree, as long as they kept their environment. */
  #all(): number[] {
    const group = this.#group.joinFiles.length > 0 ? this.#group.members() : [];
    const tagged = processesWithVariable(tagVariable, (tag) => tag === this.#tag);
    return [...new Set([...group, ...this.#near(), ...tagged])];
  }

  #lives(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null;
  }
}

/**
 * Mounts within others appear there as links.
 * @param links the links made; added to one by one, so that they are known if a later one fails
 */
function linkMounts(mounts: readonly Mount[], links: string[]): void {
  for (const mount of mounts) {
    const others = mounts.filter((other) => other !== mount && other.target !== mount.target);
    if (!others.some((other) => isWithin(other.target, mount.target))) continue;
    const place = sourceOf(mount.target, others);
    if (isLinkTo(place, mount.source) || staysAsCopy(place, mount.source)) continue;
    clearPlaceholder(place);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(mount.source, place);
    links.push(place);
  }
}

/**
 * Read-only files of a task are in the workspace from the start: they stay if they equal their sources. Nothing keeps
 * an agent from changing them here, so a changed one is replaced.
 */
function staysAsCopy(place: string, source: string): boolean {
  const isFile = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
  if (!isFile(place) || !isFile(source)) return false;
  if (readFileSync(place).equals(readFileSync(source))) return true;
  rmSync(place);
  copyFileSync(source, place);
  return true;
}

/** An empty folder or file that was made as a mount point. */
function clearPlaceholder(path: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  try {
    if (stat.isDirectory()) rmdirSync(path);
    else if (stat.isSymbolicLink() || (stat.isFile() && stat.size === 0)) rmSync(path);
    else throw new Error('it is not empty');
  } catch (error) {
    throw inTheWay(path, error);
  }
}

function inTheWay(path: string, cause: unknown): SandboxError {
  return new SandboxError(`${path} is in the way of a read-only mount`, `remove ${path}`, { cause });
}

function isLinkTo(path: string, source: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return (
    stat?.isSymbolicLink() === true &&
    readlinkSync(path) === source &&
    statSync(path, { throwIfNoEntry: false }) !== undefined
  );
}

async function removeLinks(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true) await unlink(path);
  }
}
