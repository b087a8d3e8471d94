import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSandbox, type SandboxOptions, type SandboxSpec } from '../sandbox/index.ts';
import { GraderOutput, type GraderResult, type SandboxDriver } from '../schema/index.ts';
import type { PreparedData, PythonEnvironment, Task } from '../tasks/index.ts';
import { GraderProtocol } from './grader-protocol.ts';
import { exchangeInside, SubmissionWorker, type SubmissionWorkerOptions } from './submission-worker.ts';

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
  /** For a task with a model endpoint: answers the tools of one process of submitted code. */
  toolModel?: SubmissionWorkerOptions['toolModel'];
  /** Whether the run had one: then grader and submitted code have it too. */
  gpu: boolean;
  signal: AbortSignal;
}

/** Timers hold no more, about 24 days. */
const longestTimerMs = 2 ** 31 - 1;

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
  const { task, driver, sandboxOptions, signal } = options;
  const { metric, submission, grading } = task.file;
  writeFileSync(join(scratch, 'task.json'), JSON.stringify({ metric, submission }));
  const exchangeFolder = exchangeFolderIn(scratch);
  const worker = new SubmissionWorker({
    ...{ ...options, exchangeFolder },
    codeFolder: join(scratch, 'code'),
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

  const protocol = new GraderProtocol(worker, (name) =>
    name === 'starter' ? task.environmentFolder : join(submissionsFolder, name),
  );
  try {
    const process = await sandbox.start(argv, {
      stdin: 'pipe',
      onOutput: (chunk) => protocol.hear(chunk),
      timeoutMs: Math.min(1000 * grading.seconds * names.length, longestTimerMs),
      signal,
    });
    protocol.attach(process);
    const end = await process.ended;
    await protocol.settled();
    if (end.ending !== 'exited' || end.exitCode !== 0) {
      signal.throwIfAborted();
      const how = end.ending === 'exited' ? `exit code ${end.exitCode}` : end.ending.replaceAll('_', ' ');
      throw new GraderFailed(`The grader of ${task.file.id} ended with ${how}:\n${protocol.tail}`);
    }
    return resultsOf(protocol, names, task.file.id).map((result) => withModelUse(result, worker));
  } finally {
    await worker.stop();
  }
}

/** What the submission's own tools asked of a language model belongs to its grade. */
function withModelUse(result: GraderResult, worker: SubmissionWorker): GraderResult {
  const used = worker.modelUse(result.submission);
  return used === null ? result : { ...result, details: { ...result.details, tool_model: used } };
}

/** What a grader sees: hidden data and submissions, all read-only, and a socket for submitted code where it runs any. */
function graderSandbox(options: GraderOptions, submissionsFolder: string, scratch: string): SandboxSpec {
  const { task, prepared, python, helpersFolder, driver } = options;
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
    gpu: options.gpu,
  };
}

function exchangeFolderIn(scratch: string): string {
  return join(scratch, 'exchange');
}

function resultsOf(protocol: GraderProtocol, names: readonly string[], task: string): GraderResult[] {
  let output: GraderOutput;
  try {
    output = GraderOutput.parse(JSON.parse(protocol.lastObject));
  } catch (error) {
    const printed =
      protocol.tail === '' ? 'it printed nothing' : `it printed last: ${protocol.tail.slice(-500)}`;
    throw new GraderFailed(`The grader of ${task} did not print its results as JSON; ${printed}`, {
      cause: error,
    });
  }
  const missing = names.filter((name) => !output.results.some(({ submission }) => submission === name));
  if (missing.length > 0)
    throw new GraderFailed(
      `The grader of ${task} left out ${missing.length} of ${names.length} submissions.`,
    );
  const odd = output.results.find(({ valid, score, problems }) =>
    valid ? score === null || problems.length > 0 : score !== null || problems.length === 0,
  );
  if (odd !== undefined)
    throw new GraderFailed(`The grader of ${task} gave a result that is neither a score nor a problem.`);
  return output.results;
}
