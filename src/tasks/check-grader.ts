import { join } from 'node:path';
import { UserError } from '../lib/errors.ts';
import type { PythonEnvironment } from './python-environment.ts';
import { runProcess } from './run-process.ts';
import type { Task } from './task-folder.ts';

/** Compiles without writing a cache, and prints nothing but the error: its last lines name file, line and cause. */
const compiling = `
import sys, traceback
try:
    compile(open(sys.argv[1], "rb").read(), sys.argv[1], "exec")
except (SyntaxError, ValueError) as error:
    print("".join(traceback.format_exception_only(error)))
    sys.exit(1)
`;

/**
 * Finds a syntax error in a task's grader before any agent runs.
 * @throws UserError `grader_broken` with file and line
 */
export async function checkGrader(
  task: Task,
  { executable }: Pick<PythonEnvironment, 'executable'>,
  signal: AbortSignal,
): Promise<void> {
  const path = join(task.folder, 'hidden/grade.py');
  const { exitCode, output } = await runProcess(executable, ['-I', '-c', compiling, path], {
    ...{ variables: {}, signal },
  });
  if (exitCode === 0) return;
  throw new UserError(
    'grader_broken',
    `The grader of the task ${task.file.id} can't be compiled:\n${output.trim()}`,
    `Fix ${path}, then run the command again.`,
  );
}
