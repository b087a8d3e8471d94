import { readWholeFile, type WholeFile } from '../common/read-whole-file.ts';
import type { Workspace } from '../common/workspace.ts';
import { importedNames } from './rewrites/python-edit.ts';

/** Modules by whose names one can tell that they hold settings, a model or its training; never how it is measured. */
const learning =
  /^(?:\w+_)?(?:agents?|architecture|cfg|configs?|constants|features?|hparams|hyper_?params|hyperparameters|layers|learner|models?|modules|nets?|networks?|optim|optimizers?|params|pipeline|policy|settings|trainer|training)$/;
/** Further ones are not read. */
const mostFiles = 4;
/** To read a file for each, and to try something with what they hold. */
const leastSteps = 20;

const markOf = (path: string) => `\n# ---- ${path} ----\n`;
const mark = /\n# ---- ([\w-]+\.(?:py|json)) ----\n/;

/**
 * The entry script and the files of the workspace that it takes its settings, its model or its training from, as one text:
 * whatever finds, changes or judges numbers and code need not know where they stand.
 * @param listing what the list of files in the workspace says; empty for unknown
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

/** A file that the script uses, that may be changed, and that was not read yet; null for none. */
function nextFile(
  { task, budget, ended }: Workspace,
  text: string,
  listing: string,
  seen: ReadonlySet<string>,
): string | null {
  if (ended || budget.steps_left < leastSteps || seen.size > mostFiles) return null;
  const modules = [...importedNames(text).values()].map((name) => name.split('.')[0] ?? '');
  const named = [...text.matchAll(/["']([\w-]+)\.json["']/g)].map(([, name]) => name ?? '');
  const names = [...modules.map((name) => [name, 'py']), ...named.map((name) => [name, 'json'])];
  const given = new Set([...task.read_only, ...task.submission.files.map(({ path }) => path)]);
  const paths = names.flatMap(([name = '', ending = '']) =>
    learning.test(name) ? [`${name}.${ending}`] : [],
  );
  return (
    paths.find(
      (path) =>
        !seen.has(path) &&
        !given.has(path) &&
        new RegExp(`(?:^|\\s)${path.replace('.', '\\.')}(?!\\S)`).test(listing),
    ) ?? null
  );
}

/** What each file holds, by its path. */
export function filesIn(source: string, entry: string): Map<string, string> {
  const [first = '', ...others] = source.split(mark);
  const files = new Map([[entry, first]]);
  for (let place = 0; place + 1 < others.length; place += 2)
    files.set(others[place] ?? entry, others[place + 1] ?? '');
  return files;
}

/** The files as one text again: what `filesIn` takes apart. */
export function joined(files: ReadonlyMap<string, string>, entry: string): string {
  return [...files].map(([path, text]) => (path === entry ? text : markOf(path) + text)).join('');
}

/** Python alone: in settings of another kind, `true` is a name that nothing defines. */
export function pythonIn(source: string, entry: string): string {
  return joined(new Map([...filesIn(source, entry)].filter(([path]) => path.endsWith('.py'))), entry);
}

/** A text that speaks of lines of a script of several files, with each line as that of its file. */
export function inTheirFiles(text: string, source: string): string {
  if (!mark.test(source)) return text;
  return text
    .replace(/\bline (\d+)\b/g, (_, line: string) => placeOf(Number(line), source))
    .replace(/\blines (?:\d+(?:, | and )?)+/g, (lines) =>
      lines.replace(/\d+/g, (line) => placeOf(Number(line), source).replace(/^line /, '')),
    );
}

function placeOf(line: number, source: string): string {
  const before = source.split('\n').slice(0, line - 1);
  const start = before.findLastIndex((each) => mark.test(`\n${each}\n`));
  const path = start < 0 ? null : (mark.exec(`\n${before[start]}\n`)?.[1] ?? null);
  return path === null ? `line ${line}` : `line ${line - start - 1} of ${path}`;
}
