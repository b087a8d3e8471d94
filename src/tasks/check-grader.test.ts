import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTask } from '../../test/fixtures/make-task.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { checkGrader } from './check-grader.ts';
import { loadTask } from './find-tasks.ts';
import { findInterpreter } from './python-interpreter.ts';

const python = await findInterpreter({ variables: process.env }).catch(() => null);

test.skipIf(python === null)(
  'a syntax error in a grader is found, with its line, without running it',
  async () => {
    if (python === null) return;
    const tasks = join(temporaryFolder(), 'tasks');
    const check = (id: string, grader: string) => {
      makeTask(tasks, id, { files: { 'hidden/grade.py': grader } });
      return checkGrader(loadTask(id, [tasks]), python, new AbortController().signal);
    };
    await check('sound', 'raise SystemExit("it was run")\n');
    await expect(check('broken', 'import json\nprint("a"\n')).rejects.toThrow(
      /broken can't be compiled:[\s\S]*grade\.py", line 2[\s\S]*never closed/,
    );
  },
);
