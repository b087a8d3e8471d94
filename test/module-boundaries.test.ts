import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

const root = join(import.meta.dirname, '..');

const CruiseReport = z.object({
  modules: z.array(
    z.object({
      source: z.string(),
      dependencies: z.array(z.object({ resolved: z.string(), dependencyTypes: z.array(z.string()) })),
    }),
  ),
  summary: z.object({
    violations: z.array(z.object({ from: z.string(), to: z.string(), rule: z.object({ name: z.string() }) })),
  }),
});

/** The violations that dependency-cruiser, run as in `npm test`, finds in the src and test of this folder. */
function cruise(folder: string, config: string) {
  const program = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [program, 'src', 'test', 'viewer/src', '--config', config, '--output-type', 'json'],
    { cwd: folder, encoding: 'utf8', maxBuffer: 64 * 2 ** 20 },
  );
  expect(stderr).toBe('');
  return CruiseReport.parse(JSON.parse(stdout));
}

/** A file with one import that the named rule forbids. */
interface Plant {
  rule: string;
  breach: string;
  file: string;
  content: string;
  /** The other file that may be reported for the violation. */
  orFile?: string;
}

const plants: Plant[] = [
  {
    rule: 'tasks-imports',
    breach: 'an import of a module that is not allowed',
    file: 'src/tasks/planted.ts',
    content: "import '../environment/index.ts';",
  },
  {
    rule: 'sandbox-imports',
    breach: 'a type-only import of a module that is not allowed',
    file: 'src/sandbox/planted.ts',
    content: "import type { Environment } from '../environment/index.ts';\nexport type Leak = Environment;",
  },
  {
    rule: 'store-imports',
    breach: 'a type imported in the middle of a line',
    file: 'src/store/planted.ts',
    content: "export type Leak = import('../environment/index.ts').Environment;",
  },
  {
    rule: 'grading-imports',
    breach: 'an import at run time',
    file: 'src/grading/planted.ts',
    content: "export const leak = () => import('../environment/index.ts');",
  },
  {
    rule: 'environment-imports',
    breach: 'a re-export of a module that is not allowed',
    file: 'src/environment/planted.ts',
    content: "export * from '../agents/agent.ts';",
  },
  {
    rule: 'environment-index',
    breach: "a deep import past a module's index",
    file: 'src/runs/planted-deep.ts',
    content: "import '../environment/environment.ts';",
  },
  {
    rule: 'environment-index',
    breach: 'a deep import from the tests',
    file: 'test/planted.test.ts',
    content: "import '../src/environment/environment.ts';",
  },
  {
    rule: 'schema-index',
    breach: 'a deep import of a schema',
    file: 'src/runs/planted-schema.ts',
    content: "import '../schema/limits.ts';",
  },
  {
    rule: 'known-modules-only',
    breach: 'a folder that is not on the map',
    file: 'src/attic/planted.ts',
    content: "import '../schema/index.ts';",
  },
  {
    rule: 'into-known-modules-only',
    breach: 'an import of a file that lies in no module',
    file: 'src/lib/planted-attic.ts',
    content: "import '../loose-planted.ts';",
  },
  {
    rule: 'no-cycles',
    breach: 'a cycle of types',
    file: 'src/lib/planted-egg.ts',
    orFile: 'src/lib/planted-hen.ts',
    content: "import type { Hen } from './planted-hen.ts';\nexport type Egg = { hatches: Hen };",
  },
  {
    rule: 'agents-know-no-other-agent',
    breach: 'an agent that imports another',
    file: 'src/agents/planted-one/agent.ts',
    content: "import '../planted-two/agent.ts';",
  },
  {
    rule: 'schema-before-lib',
    breach: 'a schema that imports a helper',
    file: 'src/schema/planted.ts',
    content: "import '../lib/errors.ts';",
  },
  {
    rule: 'schema-and-lib-know-nobody',
    breach: 'a helper that imports a module',
    file: 'src/lib/planted-module.ts',
    content: "import '../environment/index.ts';",
  },
  {
    rule: 'statistics-is-pure',
    breach: 'statistics that read files',
    file: 'src/statistics/planted.ts',
    content: "import 'node:fs';",
  },
  {
    rule: 'command-line-libraries-live-in-cli',
    breach: "a module that uses another module's library",
    file: 'src/runs/planted-library.ts',
    content: "import 'commander';",
  },
  {
    rule: 'packaged-libraries-only',
    breach: 'a source that needs a development package',
    file: 'src/lib/planted-development.ts',
    content: "import 'fast-check';",
  },
  {
    rule: 'sources-know-no-tests',
    breach: 'a source that imports a test',
    file: 'src/lib/planted-test.ts',
    content: "import '../../test/planted.test.ts';",
  },
  {
    rule: 'viewer-knows-schemas-alone',
    breach: 'a page that imports a module',
    file: 'viewer/src/planted.tsx',
    content: "import type { Experiment } from '../../src/store/index.ts';\nexport type Leak = Experiment;",
  },
  {
    rule: 'viewer-is-no-node',
    breach: 'a page that reads files',
    file: 'viewer/src/planted-file.ts',
    content: "import 'node:fs';",
  },
  {
    rule: 'resolvable',
    breach: 'an import of nothing',
    file: 'src/lib/planted-nothing.ts',
    content: "import './not-there.ts';",
  },
];

/** The files that the planted imports import; these violate no rule, except where noted above. */
const companions: Record<string, string> = {
  'src/loose-planted.ts': 'export {};',
  'viewer/src/main.ts': 'export {};',
  'src/lib/planted-hen.ts': "import type { Egg } from './planted-egg.ts';\nexport type Hen = { lays: Egg };",
  'src/agents/planted-two/agent.ts': 'export {};',
};

describe('the boundaries of modules', () => {
  let copy: string;
  let violations: { from: string; rule: string }[];

  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'mlab-boundaries-'));
    // Unit tests import fixtures that are not copied, and a test may import anything in its own module.
    const filter = (file: string) => !file.endsWith('.test.ts') && !file.endsWith('test-support.ts');
    cpSync(join(root, 'src'), join(copy, 'src'), { recursive: true, filter });
    for (const file of ['package.json', 'tsconfig.json']) cpSync(join(root, file), join(copy, file));
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
    const planted = plants.map(({ file, content }): [string, string] => [file, content]);
    for (const [file, content] of [...planted, ...Object.entries(companions)]) {
      mkdirSync(dirname(join(copy, file)), { recursive: true });
      writeFileSync(join(copy, file), `${content}\n`);
    }
    writeFileSync(join(copy, 'boundaries.mjs'), sameRulesBesideLinkedPackages());
    const report = cruise(copy, 'boundaries.mjs');
    violations = report.summary.violations.map(({ from, rule }) => ({ from, rule: rule.name }));
  });
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  test('hold in the real tree, whose TypeScript imports are seen', () => {
    const report = cruise(root, '.dependency-cruiser.mjs');
    expect(report.summary.violations).toEqual([]);
    const dependencies = report.modules.flatMap((module) => module.dependencies);
    expect(report.modules.length).toBeGreaterThan(20);
    expect(dependencies.length).toBeGreaterThan(40);
    expect(dependencies.some(({ dependencyTypes }) => dependencyTypes.includes('type-only'))).toBe(true);
    const perSchema = report.modules.find(({ source }) => source === 'src/schema/experiment.ts');
    expect(perSchema?.dependencies.map(({ resolved }) => resolved)).toContain('src/schema/limits.ts');
  });

  test.each(plants)('stop $breach ($rule)', ({ rule, file, orFile }) => {
    const reportedOf = violations.filter((violation) => violation.rule === rule).map(({ from }) => from);
    expect(reportedOf.some((from) => from === file || from === orFile)).toBe(true);
  });

  test('stop only planted imports', () => {
    const innocent = violations.filter(({ from }) => !(from in companions) && !isPlanted(from));
    expect(innocent).toEqual([]);
  });
});

function isPlanted(file: string): boolean {
  return plants.some((plant) => plant.file === file);
}

/** In the copy, node_modules is a link: following it would lead to paths that no rule knows. */
function sameRulesBesideLinkedPackages(): string {
  const real = pathToFileURL(join(root, '.dependency-cruiser.mjs')).href;
  return `import rules from '${real}';
export default { ...rules, options: { ...rules.options, preserveSymlinks: true } };
`;
}
