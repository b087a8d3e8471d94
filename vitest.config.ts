import { defineConfig } from 'vitest/config';

/** `quick`: seconds, no packages beyond Node and Python. `heavy`: Python environments, many processes, whole runs. `slow`: every control of every task on original data. */
export default defineConfig({
  test: {
    testTimeout: 30_000,
    // Vitest leaves one core idle; many tests wait for processes, and of two cores that is half.
    maxWorkers: '100%',
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'viewer/src/**/*.test.ts'],
          exclude: ['**/*.heavy.test.ts', '**/*.slow.test.ts'],
          // No test changes what another one imports, and loading it anew for each file takes half a minute.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'heavy',
          include: ['src/**/*.heavy.test.ts', 'test/**/*.heavy.test.ts'],
          testTimeout: 600_000,
          hookTimeout: 600_000,
          fileParallelism: false,
        },
      },
      {
        extends: true,
        test: { name: 'slow', include: ['test/**/*.slow.test.ts'], fileParallelism: false },
      },
    ],
  },
});
