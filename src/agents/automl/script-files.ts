import { readWholeFile, type WholeFile } from '../common/read-whole-file.ts';
import type { Workspace } from '../common/workspace.ts';
import { isTimeLike } from '../search/metric-names.ts';
import { importedNames } from './rewrites/python-edit.ts';

/** Modules whose names say that they contain settings, a model or its training, but never the evaluation. */
const learning =
  /^(?:\w+_)?(?:agents?|architecture|cfg|configs?|constants|features?|hparams|hyper_?params|hyperparameters|layers|learner|models?|modules|nets?|networks?|optim|optimizers?|params|pipeline|policy|settings|trainer|training)\.(?:py|json)$/;
/** Further files are not read. */
const maxFiles = 4;
/** Enough to read a file in each, and to try something with their contents. */
const minSteps = 20;

const markOf = (path: string) => `\n# ---- ${path} ----\n`;
/** Between two of the files; its group is the path. */
const mark = /\n# ---- ([\w-]+\.(?:py|json)) ----\n/;

/**
 * The entry script, and the files of the workspace with its settings, its model or its training, as one text: code that
 * finds, changes or compares numbers and code need not know which file they are in.
 * @param listing the list of files in the workspace, as text; empty if unknown
 */
export async function readScript(workspace: Workspace, listing: string): Promise<WholeFile> {
  const { entry } = workspace.task;
  const script = await readWholeFile(workspace, entry);
  if ('problem' in script || mark.test(script.text)) return script;
  let { text } = script;
  const seen = new Set([entry]);
  for (;;) {
    const path = nextFile(workspace, text, listing, seen);
    if (path === null) return { text };
    seen.add(path);
    const file = await readWholeFile(workspace, path);
    if ('text' in file && !mark.test(file.text)) text += markOf(path) + file.text;
  }
}

/** A file that the script uses, that may be changed, and that was not read yet; null if there is none. */
function nextFile(
  { task, budget, ended }: Workspace,
  text: string,
  listing: string,
  seen: ReadonlySet<string>,
): string | null {
  if (ended || budget.steps_left < minSteps || seen.size > maxFiles) return null;
  const modules = [...importedNames(text).values()].map((name) => `${name.split('.')[0]}.py`);
  const settings = [...text.matchAll(/["']([\w-]+\.json)["']/g)].map(([, path]) => path ?? '');
  const left = new Set(listing.split(/\s+/));
  for (const path of [...seen, ...task.read_only]) left.delete(path);
  // All code takes time, and there is nothing to evaluate.
  if (isTimeLike(task.metric)) return modules.find((path) => left.has(path)) ?? null;
  for (const { path } of task.submission.files) left.delete(path);
  return [...modules, ...settings].find((path) => learning.test(path) && left.has(path)) ?? null;
}

/** The content of each file, by its path. */
export function filesIn(source: string, entry: string): Map<string, string> {
  const [first = '', ...others] = source.split(mark);
  const files = new Map([[entry, first]]);
  for (let place = 0; place + 1 < others.length; place += 2)
    files.set(others[place] ?? entry, others[place + 1] ?? '');
  return files;
}

/** Joins the files into one text again: the inverse of `filesIn`. */
export function joined(files: ReadonlyMap<string, string>, entry: string): string {
  return [...files].map(([path, text]) => (path === entry ? text : markOf(path) + text)).join('');
}

/** A text about the lines of a script of several files, with each line number replaced by that in its file. */
export function inTheirFiles(text: string, source: string): string {
  if (!mark.test(source)) return text;
  return text.replace(/\blines? \d+(?:(?:, | and )\d+)*/g, (lines) =>
    lines.replace(/\d+/g, (line) => placeOf(Number(line), source)),
  );
}

/** `1 of model.py`, for a line of one of the files after the entry script. */
function placeOf(line: number, source: string): string {
  const before = source.split('\n').slice(0, line - 1);
  const start = before.findLastIndex((each) => mark.test(`\n${each}\n`));
  const path = mark.exec(`\n${before[start]}\n`)?.[1];
  return path === undefined ? String(line) : `${line - start - 1} of ${path}`;
}
