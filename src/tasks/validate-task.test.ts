import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeTask, type TaskOptions, taskFields } from '../../test/fixtures/make-task.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { describeProblem } from './task-problem.ts';
import { validateTask } from './validate-task.ts';

function problemsOf(options: TaskOptions) {
  return validateTask(makeTask(temporaryFolder(), 'colours', options));
}

/** Problems of a task whose task.yaml was changed as a text. */
function problemsAfter(change: (text: string) => string) {
  const folder = makeTask(temporaryFolder(), 'colours');
  const file = join(folder, 'task.yaml');
  writeFileSync(file, change(readFileSync(file, 'utf8')));
  return validateTask(folder);
}

describe('a task’s validation', () => {
  it('finds no problem in a valid task', () => {
    expect(problemsOf({})).toEqual([]);
  });

  it('names the file, the line, the field and the known key that an unknown one resembles', () => {
    const [problem, ...more] = problemsAfter((text) => text.replace('direction:', 'directon:'));
    expect(problem).toMatchObject({ field: 'metric.direction', message: 'missing', line: 8 });
    expect(problem?.fix).toContain('one of "maximize", "minimize"');
    expect(more).toMatchObject([{ field: 'metric.directon', fix: 'did you mean "direction"?', line: 11 }]);
    expect(describeProblem(problem ?? more[0] ?? expect.fail())).toMatch(
      /colours\/task\.yaml:8 metric\.direction: missing\n {2}fix: add/,
    );
  });

  it('finds read-only files that do not exist, and those that a solution would replace', () => {
    const files = { 'env/words.py': '', 'hidden/solution/words.py': '' };
    expect(problemsOf({ fields: { read_only: ['word.py'] }, files })).toMatchObject([
      { field: 'read_only.0', message: '"word.py" matches no file of env/' },
    ]);
    expect(problemsOf({ fields: { read_only: ['*.py'] }, files })).toMatchObject([
      { field: 'read_only', message: expect.stringContaining('has train.py') },
      { field: 'read_only', message: expect.stringContaining('hidden/solution/words.py would replace') },
    ]);
    expect(problemsOf({ fields: { read_only: ['words.py'] }, files: { 'env/words.py': '' } })).toEqual([]);
  });

  it('finds a threshold in percent, unless the reference exceeds it', () => {
    expect(problemsOf({ fields: { success: { threshold: 10 } } })).toMatchObject([
      {
        field: 'success.threshold',
        message: '10 means 1,000 %, and the reference improves on the baseline by 80 %',
        fix: 'write 0.1 for 10 %',
      },
    ]);
    const reference = { description: 'b', mean: 0.9, spread: 0, seeds: 1, seconds: 1 };
    const baseline = { ...reference, method: 'starter', machine: 'm', mean: 0.1 };
    expect(problemsOf({ fields: { success: { threshold: 2 }, reference, baseline } })).toEqual([]);
  });

  it.each([
    ['deep lists', () => `id: ${'['.repeat(100_000)}`],
    ['deep maps', () => `id: ${'{a: '.repeat(100_000)}`],
    ['deep blocks', () => Array.from({ length: 3000 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')],
    [
      'aliases of aliases',
      () =>
        `a0: &a0 [x]\n${Array.from({ length: 30 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(9)}]`).join('\n')}`,
    ],
    ['a file that is too large', () => `# ${'x'.repeat(2 ** 21)}`],
  ])('finds %s, without failing at them', (_, text) => {
    const started = performance.now();
    expect(problemsAfter(text)).not.toEqual([]);
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it.each([
    '{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}',
    '{1..1000000}',
    '{a,{b,{c,d}}}',
    '*a*a*a*a*a*a*b',
    '**/**/**/**/**/a',
    '+(a|aa)+(a|aa)',
    'a'.repeat(300),
  ])('refuses %s as a glob: it could take forever to match', (glob) => {
    expect(problemsOf({ fields: { read_only: [glob] } })).toMatchObject([{ field: 'read_only.0' }]);
  });

  it('accepts the globs that tasks use', () => {
    const globs = ['*.py', 'src/**/*.py', 'a/{b,c}.txt', 'data?', '[a-c]*'];
    const paths = ['words.py', 'src/deep/a.py', 'a/b.txt', 'data1', 'a.txt'];
    const files = Object.fromEntries(paths.map((path) => [`env/${path}`, '']));
    const found = problemsOf({ fields: { read_only: globs }, files });
    // The solution of this task replaces train.py.
    expect(found.map(({ message }) => message)).toEqual([expect.stringContaining('has train.py')]);
  });

  it('lists the known keys if none is similar', () => {
    const [problem] = problemsOf({ fields: { zzzzzzzz: 1 } });
    expect(problem?.fix).toMatch(/^remove it; the known keys here are schema, id, title/);
  });

  it('checks lists and each form of a submission', () => {
    const fields = taskFields('colours');
    const submission = fields.submission as { files: Record<string, unknown>[] };
    const [file] = submission.files;
    const bad = {
      ...submission,
      files: [
        { ...file, colums: [] },
        { format: 'txt', path: 'x' },
      ],
    };
    const problems = problemsOf({ fields: { submission: bad } });
    expect(problems.map(({ field, fix }) => [field, fix])).toContainEqual([
      'submission.files.0.colums',
      'did you mean "columns"?',
    ]);
    expect(problems.find(({ field }) => field?.startsWith('submission.files.1'))?.fix).toContain(
      '"csv", "python"',
    );
  });

  it('lists the formats of submitted files, and says which one any other format is', () => {
    const fields = taskFields('colours');
    const files = [{ path: 'a.jsonl', format: 'jsonl' }];
    const submission = { ...(fields.submission as object), files };
    const [problem] = problemsOf({ fields: { submission } });
    expect(problem).toMatchObject({
      field: 'submission.files.0.format',
      message: 'expected one of csv, python, file (found "jsonl")',
      fix: expect.stringMatching(
        /^write one of "csv", "python", "file" \(any other format, such as JSON lines/,
      ),
    });
  });

  it('says what was found and what is expected if a type is wrong', () => {
    const [problem] = problemsOf({ fields: { title: 7 } });
    expect(problem).toMatchObject({ field: 'title', fix: 'write a text (title for people)' });
    expect(problem?.message).toContain('found 7');
  });

  it('reports everything at once', () => {
    const folder = makeTask(temporaryFolder(), 'colours', {
      fields: { id: 'colors', entry: 'run.py' },
      requirements: 'numpy>=2\nsix==1.17.0 # fine\nscipy\n',
    });
    rmSync(join(folder, 'hidden/grade.py'));
    const problems = validateTask(folder);
    expect(problems.map(({ field, message }) => field ?? message)).toEqual([
      'missing file',
      '"numpy>=2" is not pinned',
      '"scipy" is not pinned',
      'id',
      'entry',
    ]);
    expect(problems.filter(({ message }) => message.includes('pinned')).map(({ line }) => line)).toEqual([
      1, 3,
    ]);
  });

  it('says that a package to be built is not among the requirements, and that its tools are not pinned', () => {
    const requirements = 'Doc_Opt==0.6.2\n';
    const build = { packages: ['doc-opt', 'six'], tools: ['setuptools==84.0.0'] };
    expect(problemsOf({ requirements, fields: { build } })).toMatchObject([
      { field: 'build.packages.1', message: 'requirements.txt has no "six"' },
    ]);
    const unpinned = { packages: ['doc-opt'], tools: ['setuptools'] };
    expect(problemsOf({ requirements, fields: { build: unpinned } })).toMatchObject([
      { field: 'build.tools.0' },
    ]);
  });

  it.each([
    ['a: [1, 2', /not valid YAML/],
    ['a: 1\na: 2\n', /not valid YAML/],
    ['id: !name x', /not valid YAML: Unresolved tag: !name/],
    ['\tid: x', /not valid YAML/],
    ['', /found null/],
    ['- just\n- a list\n', /expected a mapping/],
    [
      'a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c]',
      /not usable YAML/,
    ],
  ])('explains the file %j', (text, message) => {
    const problems = problemsAfter(() => text);
    expect(problems.length).toBeGreaterThan(0);
    expect(problems[0]?.message).toMatch(message);
    expect(problems[0]?.fix).not.toBe('');
  });

  it('checks fields that depend on each other', () => {
    const source = { file: 'data.bin', url: 'ftp://example.org/x', licence: 'free', unpack: 'zip' };
    const problems = problemsOf({
      fields: {
        sources: [source, source],
        metric: { name: 'error', unit: 'm', direction: 'minimize', best: 0.6 },
        submission: {
          description: 'a file',
          files: [
            {
              format: 'csv',
              path: 'submission.csv',
              id: { column: 'id', from: 'data/test.csv' },
              columns: [
                { name: 'id', min: 3, max: 2 },
                { name: 'sold', values: ['1', 'True'] },
              ],
            },
          ],
        },
      },
    });
    expect(problems.map(({ field }) => field).sort()).toEqual([
      'baseline.mean',
      'sources.0.file',
      'sources.0.url',
      'sources.1.file',
      'sources.1.file',
      'sources.1.url',
      'submission.files.0.columns',
      'submission.files.0.columns.0.min',
      'submission.files.0.columns.1.values',
      'submission.files.0.id.from',
    ]);
    expect(problems.every(({ line }) => line !== null)).toBe(true);
  });

  it('notices a direction by which the reference is worse than the starter', () => {
    const metric = { name: 'error', unit: 'm', direction: 'minimize' };
    expect(problemsOf({ fields: { metric } })).toMatchObject([
      { field: 'metric.direction', fix: expect.stringContaining('correct metric.direction') },
    ]);
  });

  it('refuses a baseline of 0, over which nothing is an improvement', () => {
    const { baseline } = taskFields('colours') as { baseline: object };
    expect(problemsOf({ fields: { baseline: { ...baseline, mean: 0 } } })).toMatchObject([
      { field: 'baseline.mean', message: expect.stringContaining('no run could succeed') },
    ]);
  });

  it('requires a remedy if the starter alone could exceed the threshold by luck', () => {
    const { baseline } = taskFields('colours') as { baseline: object };
    const noisy = { ...baseline, mean: 0.5, spread: 0.06 };
    expect(problemsOf({ fields: { baseline: noisy } })).toMatchObject([{ field: 'baseline.spread' }]);
    const remedied = { ...noisy, remedy: 'Scores are means over ten draws.' };
    expect(problemsOf({ fields: { baseline: remedied } })).toEqual([]);
    const variants = { paper: { baseline: noisy } };
    expect(problemsOf({ fields: { variants } })).toHaveLength(1);
  });

  it('refuses links and large files among the task’s own', () => {
    const folder = makeTask(temporaryFolder(), 'colours');
    symlinkSync('/etc/passwd', join(folder, 'env/passwd'));
    writeFileSync(join(folder, 'env/data.bin'), Buffer.alloc(6 * 2 ** 20));
    expect(validateTask(folder).map(({ message }) => message)).toEqual([
      'larger than 5 MiB',
      'a link or special file',
    ]);
  });

  it('says of a folder that does not exist that its files are missing', () => {
    expect(validateTask('/nowhere/at/all')[0]?.message).toMatch(/can't be read/);
  });
});
