import { readFileSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { isFile, isFolder } from '../lib/files-there.ts';
import { type Collection, type TaskFile, TaskId } from '../schema/index.ts';
import { archiveFolderName } from './archive-name.ts';
import { checkFigures, type ReportProblem } from './check-figures.ts';
import { listFolderFiles } from './folder-files.ts';
import { matchesReadOnly } from './read-only-files.ts';
import { type ReadTaskFile, type ReadTaskOptions, readTaskFile } from './read-task-file.ts';
import { looseRequirements, packageOf, readRequirements } from './requirements.ts';
import { inTask, layout } from './task-folder.ts';
import type { TaskProblem } from './task-problem.ts';

/** In bytes. A task's files are copied, hashed and committed; data belongs in sources. */
const fileBytesMax = 5 * 2 ** 20;

/** All problems of a task's folder at once; empty if it is valid. */
export function validateTask(folder: string): TaskProblem[] {
  return inspectTask(resolve(folder)).problems;
}

/** @param folder absolute path */
export function inspectTask(
  folder: string,
  options: ReadTaskOptions = {},
): {
  file: TaskFile | null;
  variants: Map<string, TaskFile>;
  problems: TaskProblem[];
} {
  const { file, variants, lineOf, ...read } = readTaskFile(inTask(folder, 'taskFile'), options);
  const problems = [...read.problems, ...filesProblems(folder), ...requirementsProblems(folder)];
  if (file !== null) problems.push(...crossChecks(folder, file, lineOf));
  if (options.toMeasure === true) return { file: problems.length === 0 ? file : null, variants, problems };
  if (file !== null) problems.push(...figureChecks(folder, file, lineOf));
  for (const [name, variant] of variants) {
    const within = (field: readonly PropertyKey[]) => lineOf(['variants', name, ...field]);
    problems.push(...figureChecks(folder, variant, within));
  }
  return { file: problems.length === 0 ? file : null, variants, problems };
}

function fileProblem(file: string, message: string, fix: string): TaskProblem {
  return { file, field: null, line: null, message, fix };
}

function filesProblems(folder: string): TaskProblem[] {
  const problems: TaskProblem[] = [];
  for (const part of ['environment', 'hidden', 'solution'] as const) {
    if (!isFolder(inTask(folder, part)))
      problems.push(
        fileProblem(inTask(folder, part), 'missing folder', `create the folder ${layout[part]}/`),
      );
  }
  for (const part of ['prepare', 'grade', 'requirements'] as const) {
    if (!isFile(inTask(folder, part)))
      problems.push(fileProblem(inTask(folder, part), 'missing file', fixForMissing[part]));
  }
  if (!isFolder(folder)) return problems;
  for (const { path, kind } of listFolderFiles(folder)) {
    const file = join(folder, path);
    if (kind !== 'file')
      problems.push(fileProblem(file, 'a link or special file', 'put the file itself there'));
    else if (statSync(file).size > fileBytesMax)
      problems.push(
        fileProblem(
          file,
          `larger than ${fileBytesMax / 2 ** 20} MiB`,
          'name it as a source in task.yaml, or make it in prepare.py',
        ),
      );
  }
  return problems;
}

const fixForMissing = {
  prepare: 'write it: it makes --public and --private from --downloads',
  grade: 'write it: it must call mlab_task.grading.grade',
  requirements: 'write it with one name==version per line; it may be empty',
};

function requirementsProblems(folder: string): TaskProblem[] {
  const file = inTask(folder, 'requirements');
  if (!isFile(file)) return [];
  return looseRequirements(readFileSync(file, 'utf8')).map(({ line, text }) => ({
    file,
    field: null,
    line,
    message: `"${text}" is not pinned`,
    fix: 'write name==version, so that all results are made with the same packages',
  }));
}

/** Checks that a schema can't make: fields that refer to files and to each other. */
function crossChecks(folder: string, file: TaskFile, lineOf: ReadTaskFile['lineOf']): TaskProblem[] {
  const { problems, report } = reporter(folder, lineOf);
  if (file.id !== basename(folder))
    report(
      ['id'],
      `"${file.id}" is not the folder's name`,
      TaskId.safeParse(basename(folder)).success
        ? `write id: ${basename(folder)}, or rename the folder`
        : `rename the folder to ${file.id}`,
    );
  if (!isFile(join(inTask(folder, 'environment'), file.entry)))
    report(['entry'], `env/${file.entry} does not exist`, 'name the starter script, relative to env/');
  if (file.baseline.method === 'constant' && !isFile(join(inTask(folder, 'constant'), file.entry)))
    report(
      ['baseline', 'method'],
      `is constant, but ${layout.constant}/${file.entry} does not exist`,
      `write it: it submits the trivial predictor, so that mlab tasks baseline can measure it`,
    );
  if (file.sample !== undefined && !isFile(inTask(folder, 'sample')))
    report(
      ['sample'],
      `is there, but ${layout.sample} does not exist`,
      'write it: it makes synthetic sources in --downloads, from --seed alone',
    );
  readOnlyChecks(folder, file, report);
  serviceChecks(folder, file, report);
  submissionChecks(file, report);
  sourceChecks(folder, file, report);
  buildChecks(folder, file, report);
  return problems;
}

function buildChecks(folder: string, { build }: TaskFile, report: ReportProblem): void {
  const file = inTask(folder, 'requirements');
  if (build === undefined || !isFile(file)) return;
  const required = new Set([...readRequirements(readFileSync(file, 'utf8')).keys()].map(packageOf));
  build.packages.forEach((name, index) => {
    if (!required.has(packageOf(name)))
      report(
        ['build', 'packages', index],
        `requirements.txt has no "${name}"`,
        'pin it there, or leave it out',
      );
  });
}

/** Checks of the measured figures; a variant has separate ones. */
function figureChecks(folder: string, file: TaskFile, lineOf: ReadTaskFile['lineOf']): TaskProblem[] {
  const { problems, report } = reporter(folder, lineOf);
  checkFigures(file, report);
  return problems;
}

/** A read-only file must be there, and a solution may change no file that an agent can't. */
function readOnlyChecks(folder: string, { read_only: globs }: TaskFile, report: ReportProblem): void {
  const filesIn = (part: 'environment' | 'solution') => {
    const place = inTask(folder, part);
    return isFolder(place) ? listFolderFiles(place).map(({ path }) => path) : [];
  };
  const given = filesIn('environment');
  globs.forEach((glob, index) => {
    if (!given.some((path) => matchesReadOnly([glob], path)))
      report(['read_only', index], `"${glob}" matches no file of env/`, 'correct the name, or leave it out');
  });
  const changed = filesIn('solution').filter((path) => given.includes(path) && matchesReadOnly(globs, path));
  for (const path of changed)
    report(
      ['read_only'],
      `has ${path}, which ${layout.solution}/${path} would replace`,
      `take ${layout.solution}/${path} away: an agent can't change this file`,
    );
}

function serviceChecks(folder: string, { services }: TaskFile, report: ReportProblem): void {
  services.forEach((service, index) => {
    const field = ['services', index];
    if (services.findIndex(({ name }) => name === service.name) !== index)
      report([...field, 'name'], `${service.name} is named twice`, 'give each service a different name');
    if (service.kind === 'model') {
      if (services.findIndex(({ kind }) => kind === 'model') !== index)
        report([...field, 'kind'], 'is there twice', 'ask for one language model');
    } else if (!isFile(join(folder, 'hidden', service.script)))
      report(
        [...field, 'script'],
        `hidden/${service.script} does not exist`,
        'write it, or correct the path',
      );
  });
}

function reporter(
  folder: string,
  lineOf: ReadTaskFile['lineOf'],
): { problems: TaskProblem[]; report: ReportProblem } {
  const problems: TaskProblem[] = [];
  const file = inTask(folder, 'taskFile');
  const report: ReportProblem = (field, message, fix) =>
    problems.push({ file, field: field.join('.'), line: lineOf(field), message, fix });
  return { problems, report };
}

function submissionChecks(file: TaskFile, report: ReportProblem): void {
  file.submission.files.forEach((submission, index) => {
    const field = ['submission', 'files', index];
    const twice = file.submission.files.findIndex((other) => other.path === submission.path) !== index;
    if (twice) report([...field, 'path'], `${submission.path} is named twice`, 'describe each file once');
    if (submission.format !== 'csv') return;
    if (!/\.csv(\.gz)?$/.test(submission.id.from))
      report(
        [...field, 'id', 'from'],
        `${submission.id.from} is not a CSV file`,
        'name a .csv file of the public data',
      );
    if (submission.id.from.startsWith('data/'))
      report(
        [...field, 'id', 'from'],
        'starts with data/',
        `it is relative to the public data: write ${submission.id.from.slice('data/'.length)}`,
      );
    const names = [submission.id.column, ...submission.columns.map((column) => column.name)];
    const repeated = names.find((name, at) => names.indexOf(name) !== at);
    if (repeated !== undefined)
      report(
        [...field, 'columns'],
        `the column ${repeated} is named twice`,
        'name each column once, the id under id',
      );
    submission.columns.forEach((column, at) => {
      if (column.min !== undefined && column.max !== undefined && column.min > column.max)
        report([...field, 'columns', at, 'min'], 'is above max', 'swap min and max');
      const word = column.type === 'text' ? undefined : column.values?.find((value) => !isNumber(value));
      if (word !== undefined)
        report(
          [...field, 'columns', at, 'values'],
          `has ${word}, which is no number, but the type of the column is ${column.type}`,
          'add type: text to the column',
        );
    });
  });
}

function isNumber(text: string): boolean {
  return text.trim() !== '' && Number.isFinite(Number(text));
}

function sourceChecks(folder: string, file: TaskFile, report: ReportProblem): void {
  file.sources.forEach((source, index) => {
    const field = ['sources', index];
    if (file.sources.findIndex((other) => other.file === source.file) !== index)
      report([...field, 'file'], `${source.file} is named twice`, 'give each source a different file name');
    if (source.file === '.' || source.file === '..')
      report([...field, 'file'], 'is not a file name', 'name the downloaded file');
    if (source.url !== undefined && !/^https?:$/.test(new URL(source.url).protocol))
      report(
        [...field, 'url'],
        'only http and https are downloaded',
        'name an https address, or use a mirror',
      );
    if (source.kaggle !== undefined && !/^[a-z0-9-]+$/.test(source.kaggle))
      report(
        [...field, 'kaggle'],
        'is not the name of a competition',
        "write the last part of the competition's address",
      );
    if (source.collection !== undefined) collectionChecks(folder, file, source.collection, field, report);
    if (source.collection !== undefined && source.unpack !== 'none')
      report([...field, 'unpack'], 'a collection is not an archive', 'leave out unpack');
    if (source.collection !== undefined && source.optional)
      report(
        [...field, 'optional'],
        'applies to single files, not to a collection',
        'use missing_max to say how many files may be missing',
      );
    if (source.unpack !== 'none' && archiveFolderName(source.file) === null)
      report(
        [...field, 'file'],
        `does not have the suffix of a ${source.unpack} archive`,
        'end it in .zip, .tar, .tar.gz or .tgz',
      );
  });
}

function collectionChecks(
  folder: string,
  file: TaskFile,
  { list, within }: Collection,
  field: (string | number)[],
  report: ReportProblem,
): void {
  if (!isFile(join(folder, 'hidden', list)))
    report(
      [...field, 'collection', 'list'],
      `hidden/${list} does not exist`,
      'write it: it lists in --list the files to fetch, from what is in --downloads',
    );
  const unpacked = file.sources
    .filter(({ unpack }) => unpack !== 'none')
    .map((source) => archiveFolderName(source.file));
  if (within !== undefined && !unpacked.includes(within.split('/')[0] ?? ''))
    report(
      [...field, 'collection', 'within'],
      `${within} is in no archive among the sources`,
      'begin with the folder into which an archive is unpacked',
    );
}
