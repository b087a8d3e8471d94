/**
 * `npm test`: sets up, then runs every check and every test, each even if an earlier one failed.
 * `--quick` leaves out the heavy tests, `--slow` adds the slow ones; other arguments go to Vitest (a part of a file's name, `-t TITLE`, …).
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { packageRoot } from './project-node.mjs';
import { runScript, secondsSince } from './script.mjs';
import { setUp } from './setup.mjs';

// Colours are for people; Biome and Vitest print them into files and pipes too.
const coloured = process.stdout.isTTY === true || process.env.FORCE_COLOR !== undefined;
const walledFolders = ['src', 'test', 'bench', 'viewer/src'].filter((folder) =>
  existsSync(join(packageRoot, folder)),
);
const checks = [
  { title: 'Types', argv: ['typescript/bin/tsc', '--noEmit', '-p', '.'] },
  { title: 'Viewer types', argv: ['typescript/bin/tsc', '--noEmit', '-p', 'viewer'] },
  {
    title: 'Format and lint',
    argv: ['@biomejs/biome/bin/biome', 'ci', '.', ...(coloured ? [] : ['--colors=off'])],
  },
  {
    title: 'Walls',
    argv: [
      'dependency-cruiser/bin/dependency-cruiser.mjs',
      ...walledFolders,
      '--config',
      '.dependency-cruiser.mjs',
    ],
  },
];
const testProjects = [
  { title: 'Quick tests', project: 'quick', runs: () => true, why: '' },
  {
    title: 'Heavy tests',
    project: 'heavy',
    runs: (argv) => !argv.includes('--quick'),
    why: '--quick leaves them out',
  },
  {
    title: 'Slow tests',
    project: 'slow',
    runs: (argv) => argv.includes('--slow'),
    why: 'only with --slow: every control of every task on a mirror of the original data, an hour or more',
  },
];

await runScript(async (argv) => {
  const { node } = setUp();
  const stop = stopOnSignal();
  const vitestArguments = argv.filter((argument) => !['--quick', '--slow'].includes(argument));

  const results = [];
  for (const check of checks) results.push(await runCheck(check, node, stop));
  for (const tests of testProjects) {
    if (tests.runs(argv)) results.push(await runTests(tests, vitestArguments, node, stop));
    else results.push(leftOut(tests));
  }

  return sumUp(results, stop);
});

async function runCheck({ title, argv: [program, ...argv] }, node, stop) {
  const { passed, time } = await runStep(title, [join('node_modules', program), ...argv], node, stop);
  return { title, time, passed: passed ? 1 : 0, failed: passed ? 0 : 1, skipped: [] };
}

async function runTests({ title, project }, vitestArguments, node, stop) {
  const folder = mkdtempSync(join(tmpdir(), 'mlab-test-'));
  const summaryFile = join(folder, 'summary.json');
  const argv = ['node_modules/vitest/vitest.mjs', 'run', '--project', project, '--passWithNoTests'];
  const reporters = ['--reporter=default', '--reporter=./scripts/test-reporter.mjs'];
  try {
    const variables = { MLAB_TEST_SUMMARY: summaryFile };
    const step = await runStep(title, [...argv, ...reporters, ...vitestArguments], node, stop, variables);
    const summary = existsSync(summaryFile)
      ? JSON.parse(readFileSync(summaryFile, 'utf8'))
      : { passed: 0, failed: 0, skipped: [] };
    // Vitest may fail beside its tests: a wrong argument, a crash, a broken configuration.
    if (!step.passed && summary.failed === 0) summary.failed = 1;
    return { title, time: step.time, tests: true, ...summary };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function leftOut({ title, why }) {
  return { title, time: '-', tests: true, passed: 0, failed: 0, skipped: [], leftOut: why };
}

/** Runs one program of node_modules under a heading. */
async function runStep(title, argv, node, stop, variables = {}) {
  if (stop.signal.aborted) return { passed: false, time: '-' };
  console.log(`\n── ${title} ──`);
  const start = performance.now();
  const child = spawn(node.path, argv, {
    cwd: packageRoot,
    // Tests that start `node` get the same one.
    env: {
      ...process.env,
      PATH: `${dirname(node.path)}${delimiter}${process.env.PATH ?? ''}`,
      ...(coloured ? {} : { NO_COLOR: '1' }),
      ...variables,
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  stop.child = child;
  const passed = await new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
  });
  const time = secondsSince(start);
  console.log(`${passed ? 'passed' : 'FAILED'} in ${time}`);
  return { passed, time };
}

/** Ctrl-C ends what is running and leaves out the rest; at a terminal it reaches the running program by itself. */
function stopOnSignal() {
  const controller = new AbortController();
  const stop = { signal: controller.signal, child: null };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(name, () => {
      controller.abort();
      const reachedByTerminal = name === 'SIGINT' && process.stdout.isTTY;
      if (!reachedByTerminal) stop.child?.kill(name);
    });
  }
  return stop;
}

/** Prints the summary; its last line is read by machines. Returns the exit code. */
function sumUp(results, stop) {
  const total = { passed: 0, failed: 0, skipped: 0 };
  console.log('\n── Summary ──');
  for (const { title, time, passed, failed, skipped, leftOut } of results) {
    const counts = leftOut ?? `${passed} passed, ${failed} failed, ${skipped.length} skipped`;
    console.log(
      `${failed > 0 ? '✗' : leftOut ? '-' : '✓'} ${title.padEnd(16)} ${time.padStart(8)}  ${counts}`,
    );
    total.passed += passed;
    total.failed += failed;
    total.skipped += skipped.length;
  }
  const tests = results.filter((result) => result.tests);
  sayWhySkipped(tests.flatMap(({ skipped }) => skipped));
  if (tests.every(({ passed, failed, skipped }) => passed + failed + skipped.length === 0)) {
    console.log('No test was found.');
    total.failed++;
  }
  if (stop.signal.aborted) console.log('Stopped before the end.');
  console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  return total.failed > 0 || stop.signal.aborted ? 1 : 0;
}

function sayWhySkipped(skipped) {
  const shown = 10;
  for (const reason of new Set(skipped.map((test) => test.reason))) {
    const tests = skipped.filter((test) => test.reason === reason);
    console.log(`Skipped (${reason}):`);
    for (const { title } of tests.slice(0, shown)) console.log(`  ${title}`);
    if (tests.length > shown) console.log(`  … and ${tests.length - shown} more`);
  }
}
