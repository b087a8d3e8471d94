import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { apiReports, entries } from '../scripts/write-api-report.ts';

const root = join(import.meta.dirname, '..');
const reports = apiReports();

describe('docs/api', () => {
  test.each([...reports])('%s shows what the entry exports', (path, text) => {
    const committed = existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : '';
    expect(
      committed,
      'The TypeScript API has changed. If that is meant, run: npm run node scripts/write-api-report.ts, and write in CHANGELOG.md what breaks.',
    ).toBe(text);
  });

  test('has a report on every entry of the package', () => {
    const { exports } = z
      .object({ exports: z.record(z.string(), z.union([z.string(), z.object({ types: z.string() })])) })
      .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
    const modules = Object.entries(exports).flatMap(([name, target]) =>
      typeof target === 'string'
        ? []
        : [
            {
              name: name.replace('.', 'mlagentbench'),
              source: target.types.replace(/^\.\/dist\/(.*)\.d\.ts$/, 'src/$1.ts'),
            },
          ],
    );
    const reported = entries.map(({ name, source }) => ({ name, source }));
    expect(reported.toSorted(byName)).toEqual(modules.toSorted(byName));
  });

  test('shows comments, members and types that are inferred from schemas, and nothing private', () => {
    const testing = reports.get('docs/api/testing.md') ?? '';
    expect(testing).toContain(
      '/** The actions that the agent took, on all branches, in order. */\n    readonly taken: Action[];',
    );
    expect(testing).toMatch(
      /type ScriptedReplyInput = string \| \{\n {4}role\?: "agent" \| "editor" \| "fast"/,
    );
    expect([...reports.values()].join('')).not.toMatch(/#private|import\("|z\.(infer|input|output)</);
  });
});

function byName(one: { name: string }, other: { name: string }): number {
  return one.name < other.name ? -1 : 1;
}
