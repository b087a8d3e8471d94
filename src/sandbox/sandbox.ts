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
   * Absolute paths inside that are covered by an empty file or folder (a withheld data file, say), at every place where
   * the same file is mounted. Missing ones are skipped.
   */
  hide: string[];
  /**
   * Contents that no file of a readable mount may have, plain or compressed: such files are covered, wherever they are.
   */
  withheld: FileDigest[];
  /**
   * Folders of the host that are hidden in every mount that contains them. What `mounts` and `python` name is shown,
   * even within one of them.
   */
  concealed: string[];
  /** Absolute path inside. */
  workingDirectory: string;
  /**
   * All environment variables, besides PATH, HOME, LANG and TMPDIR which the driver sets. None of the host's are passed
   * on.
   */
  variables: Record<string, string>;
  /** The Python environment for scripts; its interpreter comes first on PATH. Null: none is needed. */
  python: PythonMount | null;
  /** Other environments, which are not on PATH; default: none. */
  otherPythons?: readonly PythonMount[];
  limits: SandboxLimits;
  /**
   * The writable host folder that is watched, and the size at which its writers are ended. If a command left it larger
   * than that, the next ones may run but not add to it.
   */
  watch: { folder: string; maxBytes: number } | null;
  /** The only ones that processes inside may use; default: none. */
  gpus?: readonly Gpu[];
}

/** The content of a file. */
export interface FileDigest {
  bytes: number;
  sha256: string;
}

/** A virtual environment and the installation from which it was made, both on the host and mounted read-only. */
export interface PythonMount {
  /** Folder of the virtual environment. */
  environment: string;
  /** `sys.base_prefix` of its interpreter. */
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
  /** Of all at the same time. Control groups include the page cache; the watchdog has only samples. */
  peakMemoryBytes: number | null;
  /** Of all together. */
  cpuSeconds: number | null;
}

export interface ProcessEnd extends ProcessUsage {
  /**
   * `out_of_memory`: the kernel killed one of its processes for memory and it failed, or the watchdog ended it, also
   * for too many processes if nothing else limits these. `workspace_full`: the watched folder was too large, and larger
   * than before the command.
   */
  ending: 'exited' | 'timed_out' | 'aborted' | 'out_of_memory' | 'workspace_full';
  /** Null if a signal ended it. */
  exitCode: number | null;
  /** For confined commands, also if it exited with 128 plus a signal's number, as shells report a child's. */
  signal: string | null;
  /** From the start of the command in its sandbox to its first process's end. */
  durationMs: number;
}

/** A process tree inside the sandbox. When its first process ends, all others are killed: no daemon outlives it. */
export interface SandboxProcess {
  write(data: string | Uint8Array): void;
  /**
   * Written bytes that are still in this process's memory: they grow if a process sends requests without reading the
   * replies.
   */
  readonly unreadBytes: number;
  endInput(): void;
  /** SIGTERM, then SIGKILL after two seconds; resolves with `ended`. */
  kill(): Promise<ProcessEnd>;
  /** What it has used so far; after its end, the total. A container engine reports it only at the end. */
  usage(): Promise<ProcessUsage>;
  /** Never rejects once started. */
  readonly ended: Promise<ProcessEnd>;
}

/** One confined place for commands. Every command gets new namespaces over the same mounts. */
export interface Sandbox extends AsyncDisposable {
  readonly driver: SandboxDriver;
  /** The path at which processes see a mount's target: the target itself, except if nothing is confined. */
  pathInside(target: string): string;
  /**
   * Starts a command; no shell is involved.
   * @throws SandboxError if the driver can't start it (never if the command itself fails).
   */
  start(argv: readonly [string, ...string[]], options: StartOptions): Promise<SandboxProcess>;
}

/** The driver can't confine: an infrastructure failure, never a reason to run unconfined. */
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
