import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AgentUser, prepareFor, userWithoutAccount } from './agent-user.ts';
import { confinedSandbox } from './confined-sandbox.ts';
import { ContainerProcesses } from './container-processes.ts';
import { containerArguments } from './docker-arguments.ts';
import { type ContainerState, DockerEngine, engineError } from './docker-engine.ts';
import { signalName } from './exit-signal.ts';
import { type WatchedFolder, watchedFolder } from './folder-watch.ts';
import { hierarchies } from './limits/cgroup-files.ts';
import { planMounts } from './mount-plan.ts';
import { checkMountTargets } from './mount-targets.ts';
import { OutputPipes } from './output-pipe.ts';
import { ownedName } from './owner.ts';
import { RuntimeFolder } from './runtime-folder.ts';
import { type Sandbox, SandboxError, type SandboxSpec, type StartOptions } from './sandbox.ts';
import { seccompProfile } from './seccomp.ts';
import { firstCommand } from './shell.ts';
import { type SpawnedCommand, spawnCommand } from './spawned-command.ts';
import { newMarker } from './start-marker.ts';
import type { CommandRun } from './supervisor.ts';
import { systemLinks } from './system-folders.ts';

const longestReport = 20_000;
const deathMs = 10_000;

export interface DockerOptions {
  /** The command line of the engine. */
  command: string;
  /** Null: an empty image with the host's system folders mounted read-only. */
  image: string | null;
}

/** @throws SandboxError if no engine answers. */
export async function dockerSandbox(spec: SandboxSpec, options: DockerOptions): Promise<Sandbox> {
  const engine = await DockerEngine.connect(options.command);
  await engine.removeOrphans().catch(() => {});
  const user = containerUser(spec);
  const runtime = new RuntimeFolder(user);
  try {
    if (process.getuid?.() === 0) await prepareFor(user, spec);
    const context = await contextOf(engine, spec, options, runtime, user);
    const janitor = startJanitor(engine, context.owner);
    let count = 0;
    return confinedSandbox({
      driver: 'docker',
      runtime,
      pathInside: (target) => target,
      prepare: (argv, start) => {
        checkMountTargets(spec.mounts);
        return new ContainerRun(context, `${context.owner}-${count++}`, argv, start);
      },
      dispose: async () => void janitor.kill(),
    });
  } catch (error) {
    runtime[Symbol.dispose]();
    throw SandboxError.isInstance(error) ? error : engineError(options.command, error);
  }
}

/** The harness's own user, so that it owns the files; root's containers have a separate user. */
function containerUser(spec: SandboxSpec): AgentUser {
  const uid = process.getuid?.() ?? 0;
  return uid === 0 ? userWithoutAccount(spec) : { uid, gid: process.getgid?.() ?? uid };
}

interface Context {
  engine: DockerEngine;
  spec: SandboxSpec;
  owner: string;
  /** The same for every command. */
  parameters: string[];
  image: string;
  pipes: OutputPipes;
  folder: WatchedFolder | null;
  /** Whether the contents of sockets count as memory of the container. */
  countsSockets: boolean;
}

async function contextOf(
  engine: DockerEngine,
  spec: SandboxSpec,
  options: DockerOptions,
  runtime: RuntimeFolder,
  user: AgentUser,
): Promise<Context> {
  const image = options.image ?? (await engine.emptyImage(systemLinks(), runtime.path));
  const mounts = await planMounts(spec, options.image === null ? 'host' : 'image', runtime);
  const parameters = containerArguments(spec, {
    mounts,
    isPodman: engine.isPodman,
    user,
    image: options.image,
    seccompProfile: runtime.write('seccomp.json', JSON.stringify(seccompProfile())),
  });
  return {
    engine,
    spec,
    owner: ownedName(`box${runtime.path.slice(-6)}`),
    parameters,
    image,
    pipes: new OutputPipes(runtime.path),
    folder: watchedFolder(spec.watch),
    countsSockets: !hierarchies().some(
      ({ version, controllers }) => version === 1 && controllers.includes('memory'),
    ),
  };
}

/**
 * An engine's containers do not end with the harness. This process only waits for the harness to end, which closes its
 * standard input, and then removes the containers.
 */
function startJanitor(engine: DockerEngine, owner: string): ChildProcess {
  const script =
    'read -r _; "$1" ps --all --quiet --filter "$2" | while read -r id; do "$1" rm --force "$id"; done';
  const filter = `label=${engine.label(owner)}`;
  const janitor = spawn('/bin/sh', ['-c', script, 'sh', engine.command, filter], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: engine.environment,
    detached: true,
  });
  janitor.on('error', () => {});
  janitor.unref();
  return janitor;
}

class ContainerRun implements CommandRun, SpawnedCommand {
  readonly spawn: SpawnedCommand['spawn'];
  readonly marker = newMarker();
  readonly watch: CommandRun['watch'];
  readonly #engine: DockerEngine;
  readonly #name: string;
  readonly #processes: ContainerProcesses;
  readonly #pipes: OutputPipes;
  #last: ContainerState | null = null;
  #report = '';

  constructor(context: Context, name: string, argv: readonly string[], options: StartOptions) {
    const { spec, engine } = context;
    this.#engine = engine;
    this.#pipes = context.pipes;
    this.#name = name;
    this.#processes = new ContainerProcesses(this.marker, 2 * spec.limits.processes);
    const [, ...shellArguments] = firstCommand(
      this.marker,
      argv,
      options.workingDirectory ?? spec.workingDirectory,
    );
    this.spawn = {
      command: [
        engine.command,
        'run',
        ...['--name', name, '--label', engine.label(context.owner)],
        ...(options.stdin === 'pipe' ? ['--interactive'] : []),
        ...['--workdir', '/'],
        ...context.parameters,
        context.image,
        ...shellArguments,
      ],
      environment: engine.environment,
      folder: '/',
    };
    this.watch = {
      processes: () => this.#processes.all(),
      folder: context.folder,
      sums: null,
      ...(context.countsSockets ? {} : { socketBytes: spec.limits.memoryBytes }),
    };
  }

  begin(options: StartOptions) {
    return spawnCommand(this, this.#pipes, options);
  }

  async attach(child: ChildProcess): Promise<void> {
    child.stderr?.on('data', (part: string) => {
      if (this.#report.length < longestReport) this.#report += part;
    });
  }

  /** From inside, where all its processes are known. */
  terminate(): void {
    void this.#try(['exec', this.#name, '/bin/sh', '-c', 'kill -TERM -1']);
  }

  /** Gives up after a while, because the engine may have stopped answering. */
  async destroy(): Promise<void> {
    this.#processes.kill();
    const deadline = performance.now() + deathMs;
    for (
      let pause = 20;
      (await this.#runs()) && performance.now() < deadline;
      pause = Math.min(pause * 2, 500)
    ) {
      await this.#try(['kill', '--signal', 'KILL', this.#name]);
      await sleep(pause);
    }
  }

  /** The first process reads it from inside, because the group is gone after the end. */
  async usage() {
    const number = (pattern: RegExp) => {
      const value = pattern.exec(this.#report)?.[1];
      return value === undefined ? null : Number(value);
    };
    const nanoseconds = number(/^cpuacct\.usage (\d+)$/m);
    const microseconds = number(/^cpu\.stat usage_usec (\d+)$/m);
    const killed = this.#last?.OOMKilled === true ? 1 : 0;
    return {
      peakMemoryBytes: number(/^memory\.(?:max_usage_in_bytes|peak) (\d+)$/m),
      cpuSeconds:
        nanoseconds !== null ? nanoseconds / 1e9 : microseconds !== null ? microseconds / 1e6 : null,
      outOfMemoryKills: Math.max(killed, number(/ oom_kill (\d+)$/m) ?? 0),
    };
  }

  /** The engine's own record is more reliable than the exit of its command line. */
  async translate(exitCode: number | null, signal: string | null) {
    const code = this.#last?.Running === false ? this.#last.ExitCode : exitCode;
    const name = code === null || code <= 128 ? null : signalName(code - 128);
    return name === null
      ? { exitCode: code, signal: code === null ? signal : null }
      : { exitCode: null, signal: name };
  }

  async release(): Promise<void> {
    await this.#try(['rm', '--force', this.#name]);
  }

  explain(message: string): SandboxError {
    return engineError(this.#engine.command, new Error(message));
  }

  async #runs(): Promise<boolean> {
    const state = await this.#engine.stateOf(this.#name);
    if (state !== 'unknown') this.#last = state;
    return this.#last?.Running === true;
  }

  async #try(parameters: string[]): Promise<void> {
    await this.#engine.ask(parameters).catch(() => {});
  }
}
