import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readExperiment } from '../../../src/cli/experiment-flags.ts';
import { readScript } from '../../../src/models/script.ts';
import { isReadOnly } from '../../../src/runs/workspace.ts';
import { Collection, TaskFile } from '../../../src/schema/index.ts';
import { readCollectionList } from '../../../src/tasks/collection-list.ts';
import { describeProblem, type Task } from '../../../src/tasks/index.ts';
import { parseTaskFile, readTaskFile } from '../../../src/tasks/read-task-file.ts';
import { looseRequirements, normaliseRequirements } from '../../../src/tasks/requirements.ts';
import { defineTarget } from '../engine/target.ts';
import { hold } from './containers.ts';

const task = `schema: 1
id: sums
title: Add two numbers
category: tests
modality: tabular regression
summary: Predict the sum.
suites: [tests]
problem: |
  Predict y.
read_only: ['*.py', 'lib/**', 'a/{b,c}/?[x-z]', '!(d)']
metric: { name: MAE, unit: points, direction: minimize, best: 0 }
baseline: { method: starter, description: d, mean: 1, spread: 0.1, seeds: 3, seconds: 1, machine: m }
reference: { description: e, mean: 0, spread: 0, seeds: 1, seconds: 1 }
variants: { small: { title: Small } }
sources:
  - { file: a.zip, url: 'http://localhost/a.zip', licence: none, unpack: zip, sha256: ${'a'.repeat(64)} }
submission:
  description: One CSV.
  files:
    - { format: csv, path: submission.csv, id_file: test.csv, id_column: id, columns: [{ name: y, min: 0, values: ['1'] }] }
x: &a [*a]
`;

export const yamlWords = [
  ...[
    '&a ',
    '*a',
    '<<: ',
    '!!',
    '!!binary ',
    '!!set',
    '!!omap',
    '? ',
    '- ',
    ': ',
    '|\n',
    '>-\n',
    '---\n',
    '...\n',
    '%YAML 1.1\n',
  ],
  ...[
    '{',
    '}',
    '[',
    ']',
    '# ',
    '0o7',
    '0x1F',
    '.inf',
    '.nan',
    '~',
    '1_0',
    '2001-01-01',
    'y',
    "''",
    '"\\u0000"',
    '\t',
  ],
];

/** The time that a large YAML file may take: the library needs about 5 µs per byte for a deeply nested one. */
export const yamlMilliseconds = (bytes: number) => 400 + bytes / 20;

export const taskFileTarget = defineTarget({
  name: 'task-file',
  reads: 'task.yaml, and requirements.txt',
  seeds: [task, 'schema: 1\nid: [', 'numpy==1.0 # x\n-r other\nA_b == 2\n'],
  words: [
    ...yamlWords,
    'schema',
    'read_only',
    'variants',
    'sources',
    'submission',
    'format: csv',
    'format: python',
    'unpack',
  ],
  batch: 8,
  milliseconds: yamlMilliseconds,
  open: () => ({
    run(input) {
      const text = input.toString('utf8');
      const { file, problems, lineOf } = parseTaskFile('/task.yaml', text);
      hold(file !== null || problems.length > 0, 'there is a task, or a reason why not');
      const total = problems.reduce((sum, problem) => sum + describeProblem(problem).length, 0);
      hold(total < 20_000 + 200 * input.length, 'what is wrong is told in no more than its size explains');
      lineOf(['sources', 0, 'url']);
      looseRequirements(text);
      normaliseRequirements(text);
    },
  }),
});

const taskFolder = join(import.meta.dirname, '../../fixtures/tasks/sums/task.yaml');
const base = readTaskFile(taskFolder).file;

export const globTarget = defineTarget({
  name: 'read-only-globs',
  reads: "globs of a task's read_only, on paths that an agent made",
  seeds: [
    '*.py\na/b.py',
    '{a,b}{c,d}/**/[!x]\nac/d/y',
    '!(a|b)+(c)\nd',
    '**/**/**/*.a\na/a/a/a/b',
    'a/./../b\nb',
  ],
  words: [
    '{a,b}',
    '{1..9}',
    '**/',
    '*',
    '?',
    '[a-z]',
    '[!a]',
    '[[:alpha:]]',
    '!(a)',
    '+(a)',
    '@(a|b)',
    '*(a)',
    '\\',
    '\n',
    '/',
  ],
  maxBytes: 2048,
  milliseconds: () => 500,
  open: () => ({
    run(input) {
      const [glob = '', ...paths] = input.toString('utf8').split('\n');
      const parsed = TaskFile.shape.read_only.safeParse([glob]);
      if (!parsed.success) return;
      hold(base !== null, 'the task of the fixtures is one');
      const file = { ...base, read_only: parsed.data };
      for (const path of [...paths.slice(0, 3), 'train.py']) isReadOnly({ file } as Task, path);
    },
  }),
});

export const experimentFileTarget = defineTarget({
  name: 'experiment-file',
  reads: 'experiment files, and scripts of made-up models',
  seeds: [
    'name: first\ntasks: [digits]\nagents: [automl, { name: react, options: { a: 1 } }]\nmodels: [openai/x]\nseeds: [1, 2]\n',
    'suite: starter\nlimits: { steps: 5, wall_seconds: 60 }\nspend: { money: 1 }\nroles: { agent: { temperature: 0 } }\n',
    'providers: { own: { base_url: "http://localhost/v1", kind: openai-compatible } }\nprices: { a/b: { input: 1 } }\n',
    '- text: hello\n- { tool_calls: [{ name: a, input: { b: 1 } }], repeat: true }\n- fails: { failure: overloaded }\n',
  ],
  words: [
    ...yamlWords,
    'tasks',
    'agents',
    'models',
    'limits',
    'roles',
    'providers',
    'prices',
    'spend',
    'experience',
    'text',
    'fails',
  ],
  batch: 8,
  milliseconds: yamlMilliseconds,
  open: (folder) => {
    const path = join(folder, 'experiment.yaml');
    return {
      run(input) {
        writeFileSync(path, input);
        try {
          readExperiment(path, {});
        } finally {
          readScript('script', path);
        }
      },
    };
  },
});

const collection = Collection.parse({
  list: 'list.py',
  hosts: ['localhost'],
  files_max: 100,
  bytes_max: 1000,
});

export const collectionTarget = defineTarget({
  name: 'collection-list',
  reads: 'the list of files that a script of a task makes of a download',
  seeds: [
    '{"file":"a.png","urls":["http://localhost/a.png"]}\n{"file":"b.png","urls":["https://localhost/b"]}\n',
  ],
  words: [
    '"file"',
    '"urls"',
    'http://',
    'https://',
    'file:///',
    'localhost',
    '@',
    ':80',
    '..',
    '.part',
    '[::1]',
    '\\u0000',
  ],
  open: (folder) => ({
    run(input) {
      const path = join(folder, 'list.jsonl');
      writeFileSync(path, input);
      for (const { file, urls } of readCollectionList(path, collection)) {
        hold(/^[\w.-]+$/.test(file) && !file.startsWith('.'), 'a file has a plain name');
        hold(
          urls.every((url) => new URL(url).hostname === 'localhost'),
          'only hosts that are allowed',
        );
      }
    },
  }),
});
