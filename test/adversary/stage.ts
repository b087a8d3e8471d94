import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gradeRun } from '../../src/grading/index.ts';
import { removeTree } from '../../src/lib/read-only-tree.ts';
import type { TaskResources } from '../../src/runs/index.ts';
import {
  createSandbox,
  type ProcessEnd,
  type Sandbox,
  type SandboxSpec,
  type StartOptions,
} from '../../src/sandbox/index.ts';
import type { Grade, RunRecord } from '../../src/schema/index.ts';
import type { RunFolder } from '../../src/store/index.ts';
import { helpersFolder, TaskBench } from '../fixtures/fixture-task.ts';
import { type MlabEnd, mlab } from '../fixtures/mlab-process.ts';
import { agentOf, runOnce } from '../fixtures/run-place.ts';
import type { Row } from './rows.ts';

const mebibyte = 2 ** 20;

/** Matches every planted secret, but not text that only mentions one. */
export const secretPattern = /planted-secret-[0-9a-f]{32}/;

export interface Finished extends ProcessEnd {
  output: string;
}

export interface Ran {
  record: RunRecord;
  folder: RunFolder;
  resources: TaskResources;
  /** The agent's observation of each step. */
  observations: string[];
}

/** The command of the container engine for the attacks on the docker driver. */
export const dockerCommand = process.env.MLAB_ADVERSARY_ENGINE ?? 'podman';

/**
 * What one attack can use: a workspace and a secret beside it, a sandbox of the row's driver, runs and gradings of a
 * fixture task, and the command line. Removed with all its files when the attack is over.
 */
export class Stage implements AsyncDisposable {
  readonly row: Row;
  readonly signal: AbortSignal;
  /** A folder of the host. */
  readonly folder: string;
  /** On the host; inside it is /workspace. */
  readonly workspace: string;
  /** A folder of the host that no sandbox gets, with `secret.txt` in it. */
  readonly vault: string;
  /** The content of `secret.txt` and of the hidden file data/hidden.csv. */
  readonly secret = `planted-secret-${randomBytes(16).toString('hex')}`;
  #sandbox: Sandbox | null = null;
  #bench: TaskBench | null = null;
  #runs = 0;

  constructor(row: Row, signal: AbortSignal) {
    this.row = row;
    this.signal = signal;
    this.folder = mkdtempSync(join(realpathSync(tmpdir()), 'mlab-adversary-'));
    this.workspace = join(this.folder, 'workspace');
    this.vault = join(this.folder, 'vault');
    this.file('vault/secret.txt', `${this.secret}\n`);
    this.file('data/train.csv', 'id,label\n1,0\n');
    this.file('data/hidden.csv', `${this.secret}\n`);
    mkdirSync(this.workspace);
  }

  /** Writes a file below the folder, and returns its path. */
  file(path: string, content: string | Uint8Array, mode = 0o644): string {
    const file = join(this.folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    chmodSync(file, mode);
    return file;
  }

  spec(changes: Partial<SandboxSpec> = {}): SandboxSpec {
    return {
      mounts: [
        { source: this.workspace, target: '/workspace', access: 'write' },
        { source: join(this.folder, 'data'), target: '/workspace/data', access: 'read' },
      ],
      hide: ['/workspace/data/hidden.csv'],
      withheld: [],
      concealed: [],
      workingDirectory: '/workspace',
      variables: {},
      python: null,
      limits: {
        memoryBytes: 256 * mebibyte,
        processes: 40,
        fileBytes: 64 * mebibyte,
        temporaryBytes: 16 * mebibyte,
      },
      watch: { folder: this.workspace, maxBytes: 128 * mebibyte },
      ...changes,
    };
  }

  /** A sandbox of the row's driver; without changes always the same one. */
  async sandbox(changes?: Partial<SandboxSpec>): Promise<Sandbox> {
    if (changes !== undefined) return createSandbox(this.row.driver, this.spec(changes), { dockerCommand });
    this.#sandbox ??= await createSandbox(this.row.driver, this.spec(), { dockerCommand });
    return this.#sandbox;
  }

  /** Runs a shell script inside, until it ends. */
  async shell(
    script: string,
    options: Partial<StartOptions> & { sandbox?: Sandbox } = {},
  ): Promise<Finished> {
    return this.program(['/bin/sh', '-c', script], options);
  }

  /** Runs Python inside, until it ends. */
  async python(
    source: string,
    options: Partial<StartOptions> & { sandbox?: Sandbox } = {},
  ): Promise<Finished> {
    return this.program(['python3', '-c', source], options);
  }

  async program(
    argv: readonly [string, ...string[]],
    { sandbox, ...options }: Partial<StartOptions> & { sandbox?: Sandbox } = {},
  ): Promise<Finished> {
    const chunks: Buffer[] = [];
    const process = await (sandbox ?? (await this.sandbox())).start(argv, {
      stdin: 'none',
      timeoutMs: 20_000,
      signal: this.signal,
      onOutput: (chunk) => chunks.push(chunk),
      ...options,
    });
    const end = await process.ended;
    return { ...end, output: Buffer.concat(chunks).toString() };
  }

  /**
   * Milliseconds that are added to the time limits of an attack: a multiple of the current time of a command that does
   * nothing. A busy machine, or an engine that takes seconds to remove a container, must not count as a successful
   * attack.
   */
  async allowance(sandbox?: Sandbox): Promise<number> {
    const start = performance.now();
    await this.shell('true', sandbox === undefined ? {} : { sandbox });
    return 4 * (performance.now() - start);
  }

  /** Whether a text contains the planted secret; also for texts that come in pieces. */
  isSecret(text: string): boolean {
    return text.includes(this.secret);
  }

  /**
   * The fixture task "sums" (test/fixtures/tasks/sums), with some files replaced: task.yaml, hidden/grade.py,
   * env/train.py, … Its labels are the sums of two numbers; constant 0 for the smallest error.
   */
  async task(changes: Record<string, string> = {}): Promise<TaskResources> {
    this.#bench ??= new TaskBench();
    this.#runs += 1;
    return this.#bench.provision(this.#bench.copyTask(`task-${this.#runs}`, changes));
  }

  /** A run of the task in which each text is the shell command of one step, or a list of actions. */
  async run(
    commands: readonly (string | { name: string; args: Record<string, unknown> })[],
    task?: TaskResources,
  ): Promise<Ran> {
    const resources = task ?? (await this.task());
    this.#runs += 1;
    const observations: string[] = [];
    const agent = agentOf(async ({ environment }) => {
      for (const command of commands) {
        const action = typeof command === 'string' ? { name: 'Run Command', args: { command } } : command;
        observations.push((await environment.step(action)).observation);
      }
    });
    const { record, folder } = await runOnce(
      join(this.folder, 'experiments', String(this.#runs)),
      resources,
      agent,
      {
        changes: { sandbox: this.row.driver, limits: { steps: 1_000 } },
        signal: this.signal,
        dockerCommand,
      },
    );
    return { record, folder, resources, observations };
  }

  /** The grades of a run's final workspace, or of every step's. */
  async grade({ folder, resources }: Ran, which: 'final' | 'all' = 'final'): Promise<Grade[]> {
    return gradeRun({ folder, ...resources, helpersFolder, which, dockerCommand, signal: this.signal });
  }

  /** The real command line, in a separate process that works in the attack's folder. */
  async mlab(argv: readonly string[], variables: Record<string, string> = {}): Promise<MlabEnd> {
    return mlab(argv, { folder: this.folder, variables });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sandbox?.[Symbol.asyncDispose]();
    this.#bench?.[Symbol.dispose]();
    removeTree(this.folder);
  }
}
