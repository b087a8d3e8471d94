import type { SandboxDriver } from '../schema/index.ts';
import type { Gpu } from './gpus/gpu.ts';

export type { DoctorCheck } from '../lib/doctor-check.ts';

/** A folder or file of the host that processes in the sandbox see. */
export interface Mount {
  /** Absolute path on the host. */
  source: string;
  /** Absolute path inside. */
  target: string;
  access: 'read' | 'write';
}

export interface SandboxLimits {
  /** All processes together, in bytes. */
  memoryBytes: number;
  /** Processes and threads. */
  processes: number;
  /** The largest single file that may be written, in bytes. */
  fileBytes: number;
  /** The private /tmp and /dev/shm, each, in bytes. They count as memory too. */
  temporaryBytes: number;
}

export interface SandboxSpec {
  mounts: Mount[];
  /**
   * Absolute paths inside that are covered by emptiness (a withheld data file, say), at every place where the same
   * file is mounted. What does not exist is passed over.
   */
  hide: string[];
  /** What no file of a mount that is read may hold, plain or compressed: such files are covered, wherever they lie. */
  withheld: Content[];
  /**
   * Folders of the host that are not seen through any mount of something that holds them, wherever they lie. What
   * `mounts` and `python` name is shown, also where it lies in one of them.
   */
  concealed: string[];
  /** Absolute path inside. */
  workingDirectory: string;
  /** All environment variables, beside PATH, HOME, LANG and TMPDIR which the driver sets. Nothing of the host's passes. */
  variables: Record<string, string>;
  /** The Python environment that scripts run with; its interpreter comes first on PATH. Null: none is needed. */
  python: PythonMount | null;
  /** Further ones, which are no part of PATH; default: none. */
  otherPythons?: readonly PythonMount[];
  limits: SandboxLimits;
  /**
   * The writable host folder that is watched, and the size at which its writers are ended. When a command left it
   * larger than that, the next ones may run but not add to it.
   */
  watch: { folder: string; maxBytes: number } | null;
  /** Which processes inside may use, and no others; default: none. */
  gpus?: readonly Gpu[];
}

/** What a file holds. */
export interface Content {
  bytes: number;
  sha256: string;
}

/** A virtual environment and the installation it was made from, both on the host, both mounted read-only. */
export interface PythonMount {
  /** Folder of the virtual environment. */
  environment: string;
  /** `sys.base_prefix` of the interpreter it was made with. */
  basePrefix: string;
}

export interface StartOptions {
  /** `pipe` keeps standard input open for `write`. */
  stdin: 'none' | 'pipe';
  /** Called with standard output and standard error, in the order in which they were printed. */
  onOutput: (chunk: Buffer) => void;
  /** SIGTERM goes to all processes after this time, SIGKILL two seconds later. Null: no limit. */
  timeoutMs: number | null;
  /** Ends it in the same way. */
  signal: AbortSignal | null;
  /** Absolute path inside; default: the sandbox's. */
  workingDirectory?: string;
}

/** What a command's processes used. */
export interface ProcessUsage {
  /** Of all at one time. Control groups count the page cache too; the watchdog has samples only. */
  peakMemoryBytes: number | null;
  /** Of all together. */
  cpuSeconds: number | null;
}

export interface ProcessEnd extends ProcessUsage {
  /**
   * `out_of_memory`: the kernel killed one of its processes for memory and it failed, or the watchdog ended it, also
   * for too many processes where nothing else limits these. `workspace_full`: the watched folder was too large, and
   * larger than before the command.
   */
  ending: 'exited' | 'timed_out' | 'aborted' | 'out_of_memory' | 'workspace_full';
  /** Null when a signal ended it. */
  exitCode: number | null;
  /** Confined commands: also when it exited with 128 and a signal's number, as shells report a child's. */
  signal: string | null;
  /** From when its sandbox stood to its first process's end. */
  durationMs: number;
}

/** A process tree inside the sandbox. When its first process ends, all others are killed: no daemon outlives it. */
export interface SandboxProcess {
  write(data: string | Uint8Array): void;
  /** Of what was written, what still lies in this process: whoever asks much of us and reads nothing has it grow. */
  readonly unreadBytes: number;
  endInput(): void;
  /** SIGTERM, then SIGKILL after two seconds; resolves with `ended`. */
  kill(): Promise<ProcessEnd>;
  /** What it has used until now; after its end, what it used. A container engine tells only at the end. */
  usage(): Promise<ProcessUsage>;
  /** Never rejects once started. */
  readonly ended: Promise<ProcessEnd>;
}

/** One confined place in which commands run. Every command gets fresh namespaces over the same mounts. */
export interface Sandbox extends AsyncDisposable {
  readonly driver: SandboxDriver;
  /** Where a mount's target is seen by processes: the target itself, except where nothing is confined. */
  pathInside(target: string): string;
  /**
   * Starts a command; no shell is involved.
   * @throws SandboxError when the driver cannot start it (never when the command itself fails).
   */
  start(argv: readonly [string, ...string[]], options: StartOptions): Promise<SandboxProcess>;
}

/** The driver can't confine: an infrastructure error, never a reason to run unconfined. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
  /** The one command or step that fixes it. */
  readonly hint: string;

  constructor(message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.hint = hint;
  }

  static isInstance(error: unknown): error is SandboxError {
    return error instanceof Error && error.name === 'SandboxError';
  }
}
