/**
 * `npm test`: sets up, then runs every check, the quick tests, and a sample of the heavy ones, one of each kind;
 * each even if an earlier one failed.
 *
 *   --quick       the checks and the quick tests (`npm run check`)
 *   --all         all heavy tests, too (`npm run test:all`)
 *   --rest        only the heavy tests: what `npm test` leaves out
 *   --slow        as --all, and the validation agents of every task, on sample data and on a mirror of the original data
 *   --save-times  keeps what each file took, for the order of the next runs and for telling how long they will take
 *
 * Other arguments go to Vitest (a part of a file's name, `-t TITLE`, …); then all tests that they choose are run.
 *
 * Failed tests are run again, alone: those that pass then are named as unstable.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { packageRoot } from './project-node.mjs';
import { repeatFailed } from './repeat-failed.mjs';
import { runScript, secondsSince } from './script.mjs';
import { setUp } from './setup.mjs';
import { expectedSeconds, shortTime, timesFile } from './test-reporter.mjs';

// Colours are for people, but Biome and Vitest print them into files and pipes too.
const coloured = process.stdout.isTTY === true || process.env.FORCE_COLOR !== undefined;
const boundedFolders = ['src', 'test', 'bench', 'viewer/src'].filter((folder) =>
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
    title: 'Boundaries',
    argv: [
      'dependency-cruiser/bin/dependency-cruiser.mjs',
      ...boundedFolders,
      '--config',
      '.dependency-cruiser.mjs',
    ],
  },
];
const quick = { title: 'Quick tests', project: 'quick' };
const sample = { title: 'Sample of the heavy tests', project: 'sample' };
const heavy = { title: 'Heavy tests', project: 'heavy' };
const slow = { title: 'Slow tests', project: 'slow' };

const modes = {
  '--quick': { checks, tests: [quick] },
  '--all': { checks, tests: [quick, sample, heavy] },
  '--rest': { checks: [], tests: [heavy] },
  '--slow': { checks, tests: [quick, sample, heavy, slow] },
};

await runScript(async (argv) => {
  const { node } = await setUp();
  const stop = stopOnSignal();
  const own = argv.filter((argument) => argument === '--save-times' || argument in modes);
  const vitestArguments = argv.filter((argument) => !own.includes(argument));
  const chosen = vitestArguments.length > 0 ? [quick, sample, heavy] : [quick, sample];
  const mode = modes[own.find((argument) => argument in modes)] ?? { checks, tests: chosen };

  const results = await runChecks(mode.checks, node, stop);
  for (const [index, tests] of mode.tests.entries()) {
    const after = mode.tests.slice(index + 1);
    const result = await runTests(tests, after, vitestArguments, node, stop);
    // Who chose the tests sees at once what failed.
    const isRepeated = vitestArguments.length === 0 && !stop.signal.aborted;
    const alone = { MLAB_TEST_SECONDS: '' };
    const runAgain = (chosen) => runVitest(tests.project, chosen, node, stop, alone);
    results.push(isRepeated ? await repeatFailed(result, runAgain) : result);
  }
  if (own.includes('--save-times')) saveTimes(results);
  return sumUp(results, stop);
});

/** All at once: each waits for the disk as much as for a core. Their output is printed check by check. */
async function runChecks(chosen, node, stop) {
  if (chosen.length === 0) return [];
  console.log(`\n── ${chosen.map(({ title }) => title).join(', ')} ──`);
  return await Promise.all(
    chosen.map(async ({ title, argv: [program, ...argv] }) => {
      const { passed, time, printed } = await runProgram(
        [join('node_modules', program), ...argv],
        node,
        stop,
        {
          quiet: true,
        },
      );
      console.log(`${passed ? '✓' : '✗'} ${title} ${time}${passed ? '' : `\n${printed}`}`);
      return { title, time, passed: passed ? 1 : 0, failed: passed ? 0 : 1, skipped: [] };
    }),
  );
}

/** @param after the test projects that come later, for the time left */
async function runTests({ title, project }, after, vitestArguments, node, stop) {
  if (!stop.signal.aborted) console.log(`\n── ${title}${usually(project)} ──`);
  const secondsAfter = after.reduce((sum, tests) => sum + usualSeconds(tests.project), 0);
  const variables = { MLAB_SECONDS_AFTER: String(secondsAfter) };
  const { passed, time, summary } = await runVitest(project, vitestArguments, node, stop, variables);
  // Vitest may also fail without a failed test: a wrong argument, a crash, a broken configuration.
  if (!passed && summary.failed === 0 && summary.unrun === null) summary.failed = 1;
  return { title, project, time, tests: true, ...summary };
}

async function runVitest(project, vitestArguments, node, stop, variables) {
  const folder = mkdtempSync(join(tmpdir(), 'mlab-test-'));
  const summaryFile = join(folder, 'summary.json');
  const argv = ['node_modules/vitest/vitest.mjs', 'run', '--project', project, '--passWithNoTests'];
  const reporters = ['--reporter=default', '--reporter=./scripts/test-reporter.mjs'];
  try {
    const { passed, time } = await runProgram([...argv, ...reporters, ...vitestArguments], node, stop, {
      variables: { MLAB_TEST_SUMMARY: summaryFile, MLAB_TEST_TIMES: project, ...variables },
    });
    const summary = existsSync(summaryFile)
      ? JSON.parse(readFileSync(summaryFile, 'utf8'))
      : { passed: 0, failed: 0, failures: [], skipped: [], seconds: {}, unrun: null };
    return { passed, time, summary };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Seconds on the two idle cores on which the files' times were measured; 0 if they were not. */
function usualSeconds(project) {
  return Object.values(expectedSeconds(project)).reduce((sum, seconds) => sum + seconds, 0) / 2;
}

function usually(project) {
  const seconds = usualSeconds(project);
  return seconds === 0 ? '' : `, usually ${shortTime(seconds)} on two cores`;
}

/** Runs one program of node_modules. With `quiet`, its output is returned instead of shown. */
async function runProgram(argv, node, stop, { variables = {}, quiet = false }) {
  if (stop.signal.aborted) return { passed: false, time: '-', printed: '' };
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
    stdio: ['ignore', quiet ? 'pipe' : 'inherit', quiet ? 'pipe' : 'inherit'],
  });
  stop.children.add(child);
  const printed = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => printed.push(chunk));
  const passed = await new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('close', (code) => resolve(code === 0));
  });
  stop.children.delete(child);
  return { passed, time: secondsSince(start), printed: Buffer.concat(printed).toString() };
}

/** Ctrl-C ends what is running and skips the rest; at a terminal it reaches the running program by itself. */
function stopOnSignal() {
  const controller = new AbortController();
  const stop = { signal: controller.signal, children: new Set() };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(name, () => {
      controller.abort();
      const reachedByTerminal = name === 'SIGINT' && process.stdout.isTTY;
      if (!reachedByTerminal) for (const child of stop.children) child.kill(name);
    });
  }
  return stop;
}

/** Prints the summary; its last line is read by machines. Returns the exit code. */
function sumUp(results, stop) {
  const total = { passed: 0, failed: 0, skipped: 0 };
  const tests = results.filter((result) => result.tests);
  sayWhySkipped(tests.flatMap(({ skipped }) => skipped));
  sayWhereTimeWent(tests);
  console.log('\n── Summary ──');
  for (const { title, time, passed, failed, skipped } of results) {
    const counts = `${passed} passed, ${failed} failed, ${skipped.length} skipped`;
    console.log(`${failed > 0 ? '✗' : '✓'} ${title.padEnd(26)} ${time.padStart(8)}  ${counts}`);
    total.passed += passed;
    total.failed += failed;
    total.skipped += skipped.length;
  }
  if (tests.every(({ passed, failed, skipped }) => passed + failed + skipped.length === 0)) {
    console.log('No test was found.');
    total.failed++;
  }
  const unrun = tests.flatMap((result) => result.unrun ?? []);
  const unstable = tests.flatMap((result) => result.unstable ?? []);
  for (const { file, name } of unstable)
    console.log(`UNSTABLE, passed only alone: ${file} > ${name ?? 'all'}`);
  if (unrun.length > 0) console.log(`NOT run, for want of time: ${unrun.length} files: ${unrun.join(', ')}`);
  if (stop.signal.aborted) console.log('Stopped before the end.');
  console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  return total.failed > 0 || stop.signal.aborted ? 1 : 0;
}

/** The slowest files; each counts in full even if several ran in parallel. */
function sayWhereTimeWent(tests) {
  const files = tests
    .flatMap(({ seconds }) => Object.entries(seconds))
    .sort(([, one], [, other]) => other - one);
  const shown = files.slice(0, 12).filter(([, seconds]) => seconds >= 1);
  if (shown.length === 0) return;
  console.log('\nWhere time went:');
  for (const [file, seconds] of shown) console.log(`${`${seconds.toFixed(1)} s`.padStart(10)}  ${file}`);
}

function saveTimes(results) {
  const times = existsSync(timesFile) ? JSON.parse(readFileSync(timesFile, 'utf8')) : {};
  for (const { project, seconds } of results.filter((result) => result.tests)) {
    const measured = Object.entries(seconds).filter(([, taken]) => taken >= 1);
    times[project] = Object.fromEntries(measured.sort(([one], [other]) => (one < other ? -1 : 1)));
  }
  writeFileSync(timesFile, `${JSON.stringify(times, null, 2)}\n`);
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
