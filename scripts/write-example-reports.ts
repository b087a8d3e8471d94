/**
 * Writes the example reports in docs/reports/: of the starter suite, run for it, and of the recorded runs of the
 * original if ../shared/recorded-runs and ../shared/data exist. Takes a quarter of an hour. With a folder: only that of automl
 * on all tasks for CPU, whose runs take 50 minutes and stay there, so that it can be interrupted.
 *
 *     npm run node -- scripts/write-example-reports.ts
 *     npm run node -- scripts/write-example-reports.ts --automl FOLDER
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';

const root = join(import.meta.dirname, '..');
const shared = join(dirname(root), 'shared');
const [flag, folder] = process.argv.slice(2);
const isAutoml = flag === '--automl' && folder !== undefined;
const experiments = isAutoml ? folder : mkdtempSync(join(tmpdir(), 'mlab-example-reports-'));
try {
  if (isAutoml) automl();
  else starterSuite();
  if (isAutoml) process.stderr.write('docs/reports/automl.md is written\n');
  else if (existsSync(join(shared, 'recorded-runs')) && existsSync(join(shared, 'data'))) recordedRuns();
  else process.stderr.write(`${shared} has no recorded-runs and data: their report stays as it is\n`);
} finally {
  if (!isAutoml) rmSync(experiments, { recursive: true, force: true });
}

function starterSuite(): void {
  const agents = ['--agent', 'automl,baseline,noop', '--seeds', '3', '--wall-seconds', '60'];
  const run = ['run', '--suite', 'starter', ...agents, '--grade', 'all', '--name', 'starter-suite'];
  mlab(...run);
  write(['starter-suite'], [`mlab ${run.join(' ')}`], []);
}

/**
 * On the real data if it is there, with the published numbers of language models beside them. Five seeds, in two
 * experiments of about 20 and 30 minutes.
 */
function automl(): void {
  const seeds = { cpu: '0-1', 'cpu-more': '2-4' };
  const commands = Object.entries(seeds).map(([name, which]) => {
    const run = ['run', '--suite', 'cpu', '--agent', 'automl', '--seeds', which, '--parallel', '2'];
    const limits = ['--wall-seconds', '120', '--steps', '20000'];
    const source = (folder: string) => ['--mirror', folder, '--allow-unverified', '--name', name];
    mlab(...run, ...limits, ...source(join(shared, 'data')));
    return `mlab ${[...run, ...limits, ...source('../shared/data')].join(' ')}`;
  });
  write(Object.keys(seeds), commands, ['--published'], { file: 'automl', how: ' --automl FOLDER' });
}

/** Of the tasks whose submissions have the original's format: the others could not be submitted here unchanged. */
function recordedRuns(): void {
  const name = 'recorded-runs';
  const imported = [
    'runs',
    'import',
    '--from',
    'mlagentbench',
    join(shared, 'recorded-runs'),
    '--name',
    name,
  ];
  mlab(...imported);
  const source = ['--mirror', join(shared, 'data'), '--allow-unverified'];
  const List = z.object({ runs: z.array(z.object({ run: z.string(), task: z.string() })) });
  const { runs } = List.parse(JSON.parse(mlab('runs', 'ls', name, '--json')));
  const graded = runs.filter(({ task }) => ['house-price', 'spaceship-titanic'].includes(task));
  for (const { run } of graded) mlab('grade', `${name}/${run}`, '--steps', 'all', ...source);
  write(
    [name],
    [
      `mlab runs import --from mlagentbench ../shared/recorded-runs --name ${name}`,
      `mlab grade ${name}/RUN --steps all --mirror ../shared/data --allow-unverified  # of house-price and spaceship-titanic`,
    ],
    ['--published'],
  );
}

function write(
  names: readonly string[],
  commands: readonly string[],
  flags: readonly string[],
  { file = names[0] ?? '', how = '' } = {},
): void {
  const report = ['report', ...names, '--format', 'markdown', ...flags];
  const text = mlab(...report);
  const made = [...commands, `mlab ${report.join(' ')}`].map((command) => `    ${command}`);
  const note = `Written by \`npm run node -- scripts/write-example-reports.ts${how}\`, which ran\n\n${made.join('\n')}\n`;
  const folder = join(root, 'docs/reports');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${file}.md`), `${text.trimEnd()}\n\n---\n\n${note}`);
}

function mlab(...argv: string[]): string {
  process.stderr.write(`mlab ${argv.join(' ')}\n`);
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, 'bin/mlab.mjs'), '--dir', experiments, ...argv],
    { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 },
  );
  if (status !== 0) throw new Error(`mlab ${argv.join(' ')} ended with ${status}:\n${stderr}`);
  return stdout;
}
