import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { UserError } from '../../lib/errors.ts';
import { shellWord } from '../../lib/shell-word.ts';
import { makeWholeFolder } from '../../lib/whole-folder.ts';
import { TaskId } from '../../schema/index.ts';
import { madeUpFigures, madeUpTable, tableFacts, writeFigures, writeTask } from '../../tasks/index.ts';
import type { Context } from '../context.ts';
import type { Verb } from '../verb.ts';

const taskName = TaskId.parse('rents');

export const init: Verb = {
  arguments: [{ name: '<folder>', description: 'a new or empty folder' }],
  flags: [],
  details:
    'Makes a project with a task, an agent in TypeScript, a test of the agent, and an experiment file. Nothing is installed or run.\n' +
    'The task predicts the rents of made-up flats; mlab tasks new creates one from your own table.',
  examples: [['mlab init my-bench', 'a project in ./my-bench']],
  async run(context, [name = '']) {
    const folder = resolve(name);
    refuseUsed(folder);
    await makeWholeFolder(folder, context.signal, async (part) =>
      writeProject(context, part, basename(folder)),
    );
    return { text: textOf(context, folder), json: { folder, task: taskName } };
  },
};

/** A new git repository counts as empty. */
function refuseUsed(folder: string): void {
  if (!existsSync(folder) || namesIn(folder)?.every((name) => name === '.git') === true) return;
  throw new UserError(
    'folder_not_empty',
    `${folder} already exists and is not empty.`,
    'Name a new or an empty folder.',
  );
}

function namesIn(folder: string): string[] | null {
  try {
    return readdirSync(folder);
  } catch {
    return null;
  }
}

function writeProject({ folders, version }: Context, folder: string, name: string): void {
  const template = join(folders.package, 'templates/project');
  cpSync(template, folder, { recursive: true });
  // npm does not pack files named .gitignore.
  renameSync(join(folder, 'gitignore'), join(folder, '.gitignore'));
  const title = packageName(name);
  edit(join(folder, 'README.md'), (text) => text.replace('my-bench', title));
  const source = JSON.stringify(ownPackage(folders.package, version));
  edit(join(folder, 'package.json'), (text) =>
    text.replace('my-bench', title).replace('"mlagentbench": "*"', () => `"mlagentbench": ${source}`),
  );
  writeTaskOf(folders.package, folder);
}

function edit(path: string, change: (text: string) => string): void {
  writeFileSync(path, change(readFileSync(path, 'utf8')));
}

/** A name that npm accepts. */
function packageName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return name === '' ? 'my-bench' : name.slice(0, 100);
}

/** In a checkout, its folder: this version may not be published. */
function ownPackage(home: string, version: string): string {
  return isCheckout(home) ? `file:${home}` : `^${version}`;
}

function isCheckout(home: string): boolean {
  return existsSync(join(home, 'src'));
}

function writeTaskOf(home: string, project: string): void {
  const csv = join(project, 'flats.csv');
  writeFileSync(csv, madeUpTable());
  const folder = join(project, 'tasks', taskName);
  mkdirSync(join(project, 'tasks'));
  writeTask({
    ...{ id: taskName, csv, facts: tableFacts(csv, 'rent'), folder, template: join(home, 'templates/task') },
    requirements: join(home, 'tasks/ecoli/requirements.txt'),
  });
  writeFigures({ folder, variant: null }, madeUpFigures);
  rmSync(csv);
}

function textOf({ folders }: Context, folder: string): string {
  const shown = shellWord(relative(process.cwd(), folder) || '.');
  const build = isCheckout(folders.package) ? [`npm run build --prefix ${shellWord(folders.package)}`] : [];
  const enter = shown === '.' ? [] : [`cd ${shown}`];
  const commands = [...build, ...enter, 'npm install', 'npm test', 'npx mlab run experiment.yaml'];
  return `${folder}:
  agents/tree-depth.ts        an agent, which needs no language model
  agents/tree-depth.test.ts   its test, which needs no sandbox
  tasks/${taskName}/                a task: predict the rents of made-up flats
  experiment.yaml             which agents run on which tasks
  README.md

Next:
${commands.map((line) => `  ${line}`).join('\n')}`;
}
