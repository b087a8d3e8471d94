import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { openToReaders } from '../lib/open-to-readers.ts';
import { plainLine } from '../lib/plain-line.ts';
import {
  createSandbox,
  type Gpu,
  type ProcessEnd,
  type Sandbox,
  type SandboxOptions,
  type SandboxProcess,
  type SandboxSpec,
} from '../sandbox/index.ts';
import {
  type GraderResult,
  type SandboxDriver,
  type SubmissionProblem,
  toolPurpose,
} from '../schema/index.ts';
import { concealedBy, type PreparedData, type PythonEnvironment, type Task } from '../tasks/index.ts';
import { type GraderError, GraderProtocol } from './grader-protocol.ts';
import { MessagePipe } from './message-pipe.ts';
import {
  exchangeInside,
  longestTimerMs,
  SubmissionWorker,
  type SubmissionWorkerOptions,
  starterName,
} from './submission-worker.ts';

/** The grader itself failed: an infrastructure failure, never a result of the submission. */
export class GraderFailed extends Error {
  override readonly name = 'GraderFailed';
}

export interface GraderOptions {
  task: Task;
  prepared: PreparedData;
  python: PythonEnvironment;
  /** Folders of the host that no sandbox may show. */
  concealed: readonly string[];
  helpersFolder: string;
  driver: SandboxDriver;
  sandboxOptions: SandboxOptions;
  /** For a task that offers a model: answers the tools of one process of submitted code. */
  toolModel?: SubmissionWorkerOptions['toolModel'];
  /** As many as the run had, for the grader and submitted code; default: none. */
  gpus?: readonly Gpu[] | undefined;
  /** Whether the submissions are the task's own: no agent had a hand in them. */
  trusted?: boolean;
  signal: AbortSignal;
}

/** The outcome of one start of a grader. */
export interface GraderRun {
  results: GraderResult[];
  /** The submissions on which the score function raised an exception. */
  errors: GraderError[];
  /** Null if there is a result or an error for every submission. */
  failure: GraderFailure | null;
}

/** How a grader ended that left out results. */
export interface GraderFailure {
  /** The submission that it was grading; null if none. */
  submission: string | null;
  code: Extract<SubmissionProblem['code'], 'timed_out' | 'crashed'>;
  message: string;
  /** The end of its output. */
  printed: string;
}

const longestLog = 4_000;
const harnessInside = '/harness';

/**
 * Runs a task's grader once over a folder of submissions, each a subfolder that contains only the declared files. The
 * grader sees hidden data and submissions, both read-only; submitted code sees nothing of it.
 * @param scratch an empty folder for the task's manifest, submitted code, the socket and the pipe
 * @throws GraderFailed if the language model for the tools of submissions answers nobody
 */
export async function runGrader(
  options: GraderOptions,
  submissionsFolder: string,
  names: readonly string[],
  scratch: string,
): Promise<GraderRun> {
  const { task, driver, sandboxOptions, signal } = options;
  const { metric, submission, grading } = task.file;
  writeFileSync(join(scratch, 'task.json'), JSON.stringify({ metric, submission }));
  await using worker = new SubmissionWorker({
    ...{ ...options, exchangeFolder: exchangeFolderIn(scratch) },
    codeFolder: join(scratch, 'code'),
    entry: task.file.submission.files[0]?.path ?? task.file.entry,
    memoryMb: grading.memory_mb,
    seconds: grading.seconds,
  });
  mkdirSync(harnessFolderIn(scratch));
  await using pipe = await MessagePipe.open(harnessFolderIn(scratch));
  await openToReaders(
    submissionsFolder,
    harnessFolderIn(scratch),
    join(scratch, 'task.json'),
    exchangeFolderIn(scratch),
  );
  const spec = graderSandbox(options, submissionsFolder, scratch, pipe);
  await using sandbox = await createSandbox(driver, spec, sandboxOptions);
  let printed = '';
  const process = await sandbox.start(commandOf(sandbox, task), {
    stdin: 'pipe',
    onOutput: (chunk) => {
      printed = (printed + chunk.toString('utf8')).slice(-longestLog);
    },
    timeoutMs: null,
    signal,
  });
  const limit = new TimeLimit(graderSeconds(task), process);
  const protocol = new GraderProtocol({
    process,
    worker,
    folderOf: (name) => (name === starterName ? task.environmentFolder : join(submissionsFolder, name)),
    onNext: () => limit.restart(),
  });
  pipe.listen((chunk) => protocol.receive(chunk));
  const end = await process.ended;
  limit.clear();
  await pipe.end();
  await protocol.settled();
  await worker[Symbol.asyncDispose]();
  signal.throwIfAborted();
  const { modelFailure } = worker;
  if (modelFailure !== null && !(await modelAnswers(options))) throw new GraderFailed(modelFailure);
  const results = [...protocol.results.values()].map((result) => withModelUse(result, worker));
  const errors = [...protocol.errors.values()];
  if (names.every((name) => protocol.results.has(name) || protocol.errors.has(name)))
    return { results, errors, failure: null };
  const why =
    modelFailure === null ? whyNoResult(end, limit, protocol, task, printed) : noAnswer(modelFailure);
  return { results, errors, failure: { submission: protocol.current, ...why, printed } };
}

/** Ends the grader if it spends too long on one submission, or on none. */
class TimeLimit {
  reached = false;
  readonly #timer: NodeJS.Timeout;

  constructor(seconds: number, process: SandboxProcess) {
    this.#timer = setTimeout(
      () => {
        this.reached = true;
        void process.kill();
      },
      Math.min(1000 * seconds, longestTimerMs),
    );
  }

  restart(): void {
    if (!this.reached) this.#timer.refresh();
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}

/** Submitted code may use all of `grading.seconds`; the starter graded with it gets as much. */
export function graderSeconds({ file: { grading } }: Task): number {
  return grading.seconds * (grading.runs_submission ? 2 : 1);
}

/** Whether the model still answers other requests: then the submission's own request is what failed. */
async function modelAnswers({ toolModel, signal }: GraderOptions): Promise<boolean> {
  const messages = [{ role: 'user' as const, text: 'Answer with the word yes.' }];
  const reply = await toolModel?.()?.({ role: 'fast', purpose: toolPurpose, messages }, signal);
  return reply?.kind === 'answered';
}

function noAnswer(failure: string): Why {
  const message = `the language model answered a plain question, but not what the submission's tools asked: ${failure}`;
  return { code: 'crashed', message: plainLine(message, 500) };
}

type Why = Pick<GraderFailure, 'code' | 'message'>;

function whyNoResult(
  end: ProcessEnd,
  limit: TimeLimit,
  { fault }: GraderProtocol,
  task: Task,
  printed: string,
): Why {
  if (limit.reached)
    return { code: 'timed_out', message: `the grader timed out: it was given ${graderSeconds(task)} s` };
  const how = fault === null ? howItEnded(end, task, printed) : `was stopped: ${fault}`;
  return { code: 'crashed', message: `the grader ${how}` };
}

function howItEnded({ ending, exitCode, signal }: ProcessEnd, { file }: Task, printed: string): string {
  const last = plainLine(printed.trim().split('\n').at(-1) ?? '', 500);
  const said = last === '' ? 'it printed nothing' : `it printed last: ${last}`;
  if (ending === 'out_of_memory') return `took more than ${file.grading.memory_mb} MB of memory`;
  if (ending !== 'exited') return `ended: ${ending.replaceAll('_', ' ')}`;
  if (exitCode !== 0) return `ended with ${signal ?? `exit code ${exitCode}`}; ${said}`;
  return `left out results. What it prints is its log: it must call mlab_task.grading.grade (docs/how-to/write-a-task.md); ${said}`;
}

function commandOf(sandbox: Sandbox, { file }: Task): [string, ...string[]] {
  const inside = (target: string) => sandbox.pathInside(target);
  return [
    ...(['python', '-I', `${inside('/task/hidden')}/grade.py`] as const),
    ...['--task', inside('/task/task.json'), '--submissions', inside('/submissions')],
    ...['--public', inside('/public'), '--private', inside('/private')],
    ...(file.grading.runs_submission ? ['--exchange', inside(exchangeInside)] : []),
  ];
}

/** Calls of a language model by the submission's own tools are part of its grade. */
function withModelUse(result: GraderResult, worker: SubmissionWorker): GraderResult {
  const used = worker.modelUse(result.submission);
  return used === null ? result : { ...result, details: { ...result.details, tool_model: used } };
}

/** What a grader sees: hidden data and submissions, all read-only, and a socket for submitted code if it runs any. */
function graderSandbox(
  options: GraderOptions,
  submissionsFolder: string,
  scratch: string,
  pipe: MessagePipe,
): SandboxSpec {
  const { task, prepared, python, helpersFolder, driver, concealed } = options;
  const { grading } = task.file;
  return {
    mounts: [
      { source: task.hiddenFolder, target: '/task/hidden', access: 'read' },
      { source: task.environmentFolder, target: '/task/env', access: 'read' },
      { source: join(scratch, 'task.json'), target: '/task/task.json', access: 'read' },
      { source: submissionsFolder, target: '/submissions', access: 'read' },
      { source: prepared.publicFolder, target: '/public', access: 'read' },
      { source: prepared.privateFolder, target: '/private', access: 'read' },
      { source: helpersFolder, target: '/mlab', access: 'read' },
      { source: harnessFolderIn(scratch), target: harnessInside, access: 'read' },
      ...(grading.runs_submission
        ? [{ source: exchangeFolderIn(scratch), target: exchangeInside, access: 'write' as const }]
        : []),
    ],
    hide: [],
    withheld: [],
    concealed: [...concealed, ...concealedBy(task, prepared)],
    workingDirectory: '/tmp',
    variables: {
      MLAB_HELPERS: driver === 'none' ? helpersFolder : '/mlab',
      MLAB_HARNESS: driver === 'none' ? pipe.path : join(harnessInside, basename(pipe.path)),
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
    gpus: options.gpus ?? [],
  };
}

function harnessFolderIn(scratch: string): string {
  return join(scratch, 'harness');
}

function exchangeFolderIn(scratch: string): string {
  return join(scratch, 'exchange');
}
