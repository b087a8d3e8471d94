import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import {
  createSandbox,
  type SandboxOptions,
  type SandboxProcess,
  type SandboxSpec,
} from '../sandbox/index.ts';
import { GraderOutput, type GraderResult, type SandboxDriver } from '../schema/index.ts';
import type { PreparedData, PythonEnvironment, Task } from '../tasks/index.ts';
import { Candidate, exchangeInside } from './candidate.ts';

/** The grader itself failed: an infrastructure error, never a verdict on the submission. */
export class GraderFailed extends Error {
  override readonly name = 'GraderFailed';
}

export interface GraderOptions {
  task: Task;
  prepared: PreparedData;
  python: PythonEnvironment;
  helpersFolder: string;
  driver: SandboxDriver;
  sandboxOptions: SandboxOptions;
  signal: AbortSignal;
}

const Request = z.discriminatedUnion('request', [
  z.object({ request: z.literal('start_candidate'), submission: z.string() }),
  z.object({ request: z.literal('stop_candidate') }),
]);

const mostOutput = 64 * 2 ** 20;

/**
 * Runs a task's grader once over a folder of submissions, each a sub-folder that holds only the declared files.
 * The grader sees hidden data and submissions, both read-only, and nothing of it is seen by submitted code.
 * @param scratch an empty folder for the task's manifest and the socket
 */
export async function runGrader(
  options: GraderOptions,
  submissionsFolder: string,
  names: readonly string[],
  scratch: string,
): Promise<GraderResult[]> {
  const { task, python, helpersFolder, driver, sandboxOptions, signal } = options;
  const { metric, submission, grading } = task.file;
  writeFileSync(join(scratch, 'task.json'), JSON.stringify({ metric, submission }));
  const exchangeFolder = exchangeFolderIn(scratch);
  const candidate = new Candidate({
    ...{ driver, sandboxOptions, python, helpersFolder, exchangeFolder, signal },
    entry: task.file.submission.files[0]?.path ?? task.file.entry,
    memoryMb: grading.memory_mb,
  });
  const spec = graderSandbox(options, submissionsFolder, scratch);
  await using sandbox = await createSandbox(driver, spec, sandboxOptions);
  const inside = (target: string) => sandbox.pathInside(target);
  const argv = [
    ...['python', '-I', `${inside('/task/hidden')}/grade.py`, '--task', inside('/task/task.json')],
    ...[
      '--submissions',
      inside('/submissions'),
      '--public',
      inside('/public'),
      '--private',
      inside('/private'),
    ],
    ...(grading.runs_submission ? ['--exchange', inside(exchangeInside)] : []),
  ] as [string, ...string[]];

  const dialog = new GraderDialog(candidate, (name) =>
    name === 'starter' ? task.environmentFolder : join(submissionsFolder, name),
  );
  try {
    const process = await sandbox.start(argv, {
      stdin: 'pipe',
      onOutput: (chunk) => dialog.hear(chunk),
      timeoutMs: 1000 * grading.seconds * names.length,
      signal,
    });
    dialog.attach(process);
    const end = await process.ended;
    await dialog.settled();
    if (end.ending !== 'exited' || end.exitCode !== 0) {
      signal.throwIfAborted();
      const how = end.ending === 'exited' ? `exit code ${end.exitCode}` : end.ending.replaceAll('_', ' ');
      throw new GraderFailed(`The grader of ${task.file.id} ended with ${how}:\n${dialog.tail}`);
    }
    return resultsOf(dialog.lastLine, names, task.file.id);
  } finally {
    await candidate.stop();
  }
}

/** What a grader sees: hidden data and submissions, all read-only, and a socket for submitted code where it runs any. */
function graderSandbox(options: GraderOptions, submissionsFolder: string, scratch: string): SandboxSpec {
  const { task, prepared, python, helpersFolder, driver } = options;
  const { grading } = task.file;
  return {
    mounts: [
      { source: task.hiddenFolder, target: '/task/hidden', access: 'read' },
      { source: join(scratch, 'task.json'), target: '/task/task.json', access: 'read' },
      { source: submissionsFolder, target: '/submissions', access: 'read' },
      { source: prepared.publicFolder, target: '/public', access: 'read' },
      { source: prepared.privateFolder, target: '/private', access: 'read' },
      { source: helpersFolder, target: '/mlab', access: 'read' },
      ...(grading.runs_submission
        ? [{ source: exchangeFolderIn(scratch), target: exchangeInside, access: 'write' as const }]
        : []),
    ],
    hide: [],
    workingDirectory: '/tmp',
    variables: {
      MLAB_HELPERS: driver === 'none' ? helpersFolder : '/mlab',
      OMP_NUM_THREADS: '1',
      OPENBLAS_NUM_THREADS: '1',
    },
    python: { environment: python.environment, basePrefix: python.basePrefix },
    limits: {
      memoryBytes: grading.memory_mb * 2 ** 20,
      processes: 128,
      fileBytes: 2 ** 28,
      temporaryBytes: 2 ** 28,
    },
    watch: null,
    gpu: false,
  };
}

/** Listens to the grader's lines and does what it asks for. */
class GraderDialog {
  readonly #candidate: Candidate;
  readonly #folderOf: (name: string) => string;
  #process: SandboxProcess | null = null;
  #pending = '';
  #heard = 0;
  #lastLine = '';
  #queue: Promise<void> = Promise.resolve();

  constructor(candidate: Candidate, folderOf: (name: string) => string) {
    this.#candidate = candidate;
    this.#folderOf = folderOf;
  }

  attach(process: SandboxProcess): void {
    this.#process = process;
  }

  get lastLine(): string {
    return this.#pending.trim() === '' ? this.#lastLine : this.#pending;
  }

  get tail(): string {
    return `${this.#lastLine}\n${this.#pending}`.trim().slice(-2000);
  }

  /** Resolves when every request so far was served. */
  async settled(): Promise<void> {
    await this.#queue;
  }

  hear(chunk: Buffer): void {
    this.#heard += chunk.length;
    if (this.#heard > mostOutput) return;
    const lines = (this.#pending + chunk.toString('utf8')).split('\n');
    this.#pending = lines.pop() ?? '';
    for (const line of lines) {
      if (line.trim() === '') continue;
      this.#lastLine = line;
      const request = requestIn(line);
      if (request !== null) this.#queue = this.#queue.then(() => this.#serve(request));
    }
  }

  async #serve(request: z.infer<typeof Request>): Promise<void> {
    try {
      if (request.request === 'stop_candidate') await this.#candidate.stop();
      else await this.#candidate.start(this.#folderOf(request.submission));
      this.#answer({ ok: true });
    } catch (error) {
      this.#answer({ ok: false, message: error instanceof Error ? error.message : String(error) });
    }
  }

  #answer(answer: object): void {
    this.#process?.write(`${JSON.stringify(answer)}\n`);
  }
}

function exchangeFolderIn(scratch: string): string {
  return join(scratch, 'exchange');
}

function requestIn(line: string): z.infer<typeof Request> | null {
  if (!line.startsWith('{"request"')) return null;
  try {
    return Request.parse(JSON.parse(line));
  } catch {
    return null;
  }
}

function resultsOf(line: string, names: readonly string[], task: string): GraderResult[] {
  let output: GraderOutput;
  try {
    output = GraderOutput.parse(JSON.parse(line));
  } catch (error) {
    throw new GraderFailed(`The grader of ${task} did not print its results as JSON: ${line.slice(0, 500)}`, {
      cause: error,
    });
  }
  const missing = names.filter((name) => !output.results.some(({ submission }) => submission === name));
  if (missing.length > 0)
    throw new GraderFailed(`The grader of ${task} left out ${missing.length} submissions.`);
  return output.results;
}
