import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { expectedSeconds } from './scripts/test-reporter.mjs';

/**
 * Begins with the files that take longest, so that none is left over at the end while other cores idle; where the time is
 * limited, with the shortest, so that most are run.
 */
class ByDuration extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const times = Object.assign({}, ...['quick', 'sample', 'heavy'].map(expectedSeconds));
    const secondsOf = ({ moduleId }: TestSpecification) =>
      times[moduleId.slice(import.meta.dirname.length + 1)] ?? 0;
    const sign = process.env.MLAB_TEST_SECONDS ? 1 : -1;
    return files.toSorted((one, other) => sign * (secondsOf(one) - secondsOf(other)));
  }
}

/**
 * `quick`: seconds, no packages beyond Node and Python. `heavy`: Python environments, many processes, whole runs; `sample`:
 * one heavy test of each kind, for `npm test`. `slow`: the validation agents of every task.
 */
export default defineConfig({
  resolve: {
    alias: [
      ['mlagentbench', 'src/api/index.ts'],
      ['mlagentbench/agent', 'src/agents/api.ts'],
      ['mlagentbench/store', 'src/api/store.ts'],
      ['mlagentbench/task', 'src/api/task.ts'],
      ['mlagentbench/testing', 'src/api/testing.ts'],
    ].map(([name, file]) => ({
      find: new RegExp(`^${name}$`),
      replacement: join(import.meta.dirname, file ?? ''),
    })),
  },
  test: {
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // The default of one second is too short beside other tests.
    expect: { poll: { timeout: 20_000 } },
    // Vitest leaves one core idle; many tests wait for processes, and of two cores that is half.
    maxWorkers: '100%',
    sequence: { sequencer: ByDuration },
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'viewer/src/**/*.test.ts'],
          exclude: ['**/*.{sample,heavy,slow}.test.ts'],
          // No test changes what another one imports, and loading it anew for each file takes half a minute.
          isolate: false,
        },
      },
      ...['sample', 'heavy'].map((name) => ({
        extends: true as const,
        test: {
          name,
          include: [`src/**/*.${name}.test.ts`, `test/**/*.${name}.test.ts`],
          testTimeout: 600_000,
          hookTimeout: 600_000,
          expect: { poll: { timeout: 120_000 } },
        },
      })),
      {
        extends: true,
        test: { name: 'slow', include: ['test/**/*.slow.test.ts'], fileParallelism: false },
      },
    ],
  },
});
