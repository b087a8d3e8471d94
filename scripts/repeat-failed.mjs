/** Beyond this number of files, it is not the load of the machine that makes tests fail. */
const mostFiles = 5;

/**
 * Runs failed tests again, file by file and with nothing beside them. Those that pass then count as passed and are listed as
 * `unstable`: what they test works, but not under load.
 * @param result a reporter's summary of a test run
 * @param runAgain runs the chosen tests: gets Vitest's arguments, returns `{ passed, summary }`
 * @returns the summary with new counts, and `unstable: [{ file, name }]`
 */
export async function repeatFailed(result, runAgain) {
  const files = new Set(result.failures.map(({ file }) => file));
  if (files.size === 0 || files.size > mostFiles) return result;
  console.log('\n── Failed tests again, alone ──');
  const unstable = [];
  for (const file of files) {
    const failures = result.failures.filter((failure) => failure.file === file);
    const isWhole = failures.some(({ name }) => name === null);
    const chosen = isWhole ? [] : ['-t', failures.map(({ name }) => patternOf(name)).join('|')];
    const { passed, summary } = await runAgain([file, ...chosen]);
    if (passed && summary.passed >= failures.length) unstable.push(...failures);
  }
  const failed = result.failed - unstable.length;
  return { ...result, failed, passed: result.passed + unstable.length, unstable };
}

/** For `-t`: a reporter separates the titles of groups and of the test by ` > `, Vitest's pattern knows them by spaces. */
function patternOf(name) {
  return `^${name.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll(' > ', ' (> )?')}$`;
}
