import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from './project-node.mjs';

/** The file with the seconds that each test file took on two idle cores: `{ project: { file: seconds } }`. */
export const timesFile = join(packageRoot, 'scripts/test-times.json');
/** A file that was never measured. */
const usualSeconds = 10;
const secondsBetweenLines = Number(process.env.MLAB_SECONDS_BETWEEN_LINES ?? 15);

/**
 * The seconds that each file of a project is expected to take.
 * @param project `sample`, `heavy`, …
 * @returns `{ file: seconds }`
 */
export function expectedSeconds(project) {
  return existsSync(timesFile) ? (JSON.parse(readFileSync(timesFile, 'utf8'))[project] ?? {}) : {};
}

/**
 * A Vitest reporter that shows the progress and the remaining time of a test run, and writes the summary of `npm test` to the
 * file named by MLAB_TEST_SUMMARY: `{ passed, failed, failures, skipped: [{ title, reason }], seconds: { file: seconds },
 * unrun }`. A test file that could not be loaded, and an error outside any test, count as one failed test each; `failures`
 * has `{ file, name }` of the failed tests and files, `name` null for a file. After MLAB_TEST_SECONDS no other test begins,
 * and `unrun` has the files that were not begun or not ended; else it is null.
 */
export default class SummaryReporter {
  #start = performance.now();
  #expected = expectedSeconds(process.env.MLAB_TEST_TIMES ?? '');
  #vitest = null;
  #files = [];
  /** Files under way, by name, with their start times. */
  #running = new Map();
  #done = new Map();
  #timer = null;
  #isCut = false;

  onInit(vitest) {
    this.#vitest = vitest;
  }

  onTestRunStart(specifications) {
    this.#files = specifications.map(({ moduleId, project }) =>
      moduleId.slice(project.config.root.length + 1),
    );
    this.#timer = setInterval(() => this.#printProgress(), secondsBetweenLines * 1000);
    this.#timer.unref();
    const most = Number(process.env.MLAB_TEST_SECONDS ?? 0);
    if (most > 0) setTimeout(() => this.#cut(), most * 1000).unref();
  }

  #cut() {
    this.#isCut = true;
    console.log('   The time is over: no other test begins.');
    void this.#vitest.cancelCurrentRun('keyboard-input');
  }

  onTestModuleStart({ relativeModuleId }) {
    this.#running.set(relativeModuleId, performance.now());
  }

  onTestModuleEnd({ relativeModuleId }) {
    const began = this.#running.get(relativeModuleId) ?? performance.now();
    this.#running.delete(relativeModuleId);
    this.#done.set(relativeModuleId, (performance.now() - began) / 1000);
  }

  onTestRunEnd(testModules, unhandledErrors) {
    clearInterval(this.#timer);
    const unrun = this.#isCut ? this.#files.filter((file) => !this.#done.has(file)) : null;
    const summary = { passed: 0, failed: 0, failures: [], skipped: [], seconds: {}, unrun };
    for (const testModule of testModules) {
      const before = summary.failures.length;
      for (const test of testModule.children.allTests()) count(summary, testModule, test);
      if (testModule.state() === 'failed' && summary.failures.length === before)
        summary.failures.push({ file: testModule.relativeModuleId, name: null });
    }
    summary.failed = summary.failures.length + unhandledErrors.length;
    for (const [file, seconds] of this.#done) summary.seconds[file] = Math.round(seconds * 10) / 10;
    writeFileSync(process.env.MLAB_TEST_SUMMARY, JSON.stringify(summary));
  }

  #printProgress() {
    const running = [...this.#running].map(([file, began]) => `${file} (${shortTime(secondsAfter(began))})`);
    const left = this.#secondsLeft() + Number(process.env.MLAB_SECONDS_AFTER ?? 0);
    console.log(
      `   ${this.#done.size} of ${this.#files.length} files after ${shortTime(secondsAfter(this.#start))}, ` +
        `about ${shortTime(left)} left; running: ${running.join(', ') || 'nothing'}`,
    );
  }

  /** From earlier durations, scaled by the pace of the files that are done. */
  #secondsLeft() {
    const usual = (file) => this.#expected[file] ?? usualSeconds;
    const sum = (numbers) => [...numbers].reduce((total, number) => total + number, 0);
    const expectedOfDone = sum([...this.#done.keys()].map(usual));
    const pace = expectedOfDone < usualSeconds ? 1 : sum(this.#done.values()) / expectedOfDone;
    const leftOf = (file) => Math.max(0, usual(file) * pace - secondsAfter(this.#running.get(file)));
    const left = this.#files.filter((file) => !this.#done.has(file)).map(leftOf);
    return Math.max(sum(left) / this.#vitest.config.maxWorkers, ...left);
  }
}

/** None for a file that has not begun. */
function secondsAfter(began) {
  return began === undefined ? 0 : (performance.now() - began) / 1000;
}

/** `48 s`, `3 min 20 s`. */
export function shortTime(seconds) {
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

function count(summary, testModule, test) {
  const result = test.result();
  if (result.state === 'passed') summary.passed++;
  else if (result.state === 'failed')
    summary.failures.push({ file: testModule.relativeModuleId, name: test.fullName });
  else {
    const title = `${testModule.relativeModuleId} > ${test.fullName}`;
    summary.skipped.push({ title, reason: reasonOf(test, result) });
  }
}

function reasonOf(test, result) {
  if (result.state === 'pending') return 'the run ended before it';
  if (result.note) return result.note;
  return test.options.mode === 'todo' ? 'not written yet' : 'no reason given';
}
