import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { TaskFile, TaskFingerprint } from '../schema/index.ts';
import type { Task } from '../tasks/index.ts';

/** Modules of the standard library that starters use: they say nothing about a task. */
const ownModules = new Set(
  (
    '__future__ argparse ast base64 collections contextlib copy csv dataclasses datetime enum functools gc glob gzip ' +
    'hashlib importlib io itertools json logging math multiprocessing operator os pathlib pickle platform pprint ' +
    'queue random re shutil signal socket statistics string struct subprocess sys tempfile textwrap threading time ' +
    'traceback types typing unittest urllib uuid warnings zipfile'
  ).split(' '),
);

/** The features by which a task is compared, from what agents see of it. */
export function fingerprintOf({ file, variant, environmentFolder }: Task): TaskFingerprint {
  const { id, category, modality, metric, resources } = file;
  return {
    task: id,
    family: variant === null ? id : id.slice(0, -variant.length - 1),
    category,
    modality,
    metric: { name: metric.name, direction: metric.direction },
    target: targetOf(file),
    size: file.data?.size ?? null,
    libraries: librariesOf(environmentFolder),
    gpu: resources.gpu !== 'none',
  };
}

function targetOf({ submission }: TaskFile): TaskFingerprint['target'] {
  const tables = submission.files.filter((each) => each.format === 'csv');
  const columns = tables.flatMap((table) => table.columns);
  if (columns.length === 0) return null;
  const kinds = columns.map(({ type, values }) => (values === undefined ? type : 'choice'));
  return { kind: [...new Set(kinds)].sort().join(', '), columns: columns.map(({ name }) => name) };
}

/** Top-level packages that the starter's scripts import, except the standard library and the starter's own modules. */
function librariesOf(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const scripts = globSync('**/*.py', { cwd: folder });
  const local = new Set(scripts.map((path) => basename(path, '.py')));
  const imported = scripts.flatMap((path) => importsOf(readFileSync(join(folder, path), 'utf8')));
  return [...new Set(imported)].filter((name) => !ownModules.has(name) && !local.has(name)).sort();
}

function importsOf(source: string): string[] {
  return [...source.matchAll(/^\s*(?:from\s+(\w+)[\w.]*\s+import\b|import\s+(.+))/gm)].flatMap(
    ([, from, list = '']) =>
      from === undefined ? list.split(',').flatMap((each) => each.trim().match(/^\w+/) ?? []) : [from],
  );
}
