import { writeFileSync } from 'node:fs';

/**
 * A Vitest reporter that writes what `npm test` sums up to the file named by MLAB_TEST_SUMMARY:
 * `{ passed, failed, skipped: [{ title, reason }] }`. A test file that could not be loaded, and an error outside any
 * test, count as one failed test each.
 */
export default class SummaryReporter {
  onTestRunEnd(testModules, unhandledErrors) {
    const summary = { passed: 0, failed: unhandledErrors.length, skipped: [] };
    for (const testModule of testModules) {
      const before = summary.failed;
      for (const test of testModule.children.allTests()) count(summary, testModule, test);
      if (testModule.state() === 'failed' && summary.failed === before) summary.failed++;
    }
    writeFileSync(process.env.MLAB_TEST_SUMMARY, JSON.stringify(summary));
  }
}

function count(summary, testModule, test) {
  const result = test.result();
  if (result.state === 'passed') summary.passed++;
  else if (result.state === 'failed') summary.failed++;
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
