import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { defaultLimits, Limits, type ShownText, type TaskPage } from '../schema/index.ts';
import { findTasks, type Task } from '../tasks/index.ts';

const mostShownBytes = 200_000;
const mostFiles = 300;

/** What is installed under this id; null where nothing is. */
export function findTask(id: string, folders: readonly string[]): Task | null {
  return findTasks(folders).tasks.find(({ file }) => file.id === id) ?? null;
}

export function taskPart({ file }: Task): TaskPage['task'] {
  const { title, category, modality, summary, suites, problem, entry, metric, baseline, reference } = file;
  return {
    ...{ title, category, modality, summary, suites, problem, entry, metric, baseline, reference },
    ...{ threshold: file.success.threshold, submission: file.submission, read_only: file.read_only },
    limits: Limits.parse({ ...defaultLimits, ...file.limits }),
    published: file.paper,
  };
}

/** The files that the agent's workspace starts from; links are left out. */
export function starterFiles({ environmentFolder }: Task): TaskPage['starter'] {
  return readdirSync(environmentFolder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .slice(0, mostFiles)
    .map((path) => {
      const { size } = statSync(path);
      return { path: path.slice(environmentFolder.length + 1), size, text: textOf(path, size) };
    });
}

function textOf(path: string, size: number): ShownText | null {
  if (size > mostShownBytes) return null;
  const text = readFileSync(path, 'utf8');
  return text.includes('\0') || text.includes('\ufffd') ? null : { text, length: text.length, part: null };
}
