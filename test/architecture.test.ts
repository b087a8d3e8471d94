import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { allowed } from '../.dependency-cruiser.mjs';

const root = join(import.meta.dirname, '..');

/** The modules in docs/architecture.md's table, with the modules that each may import. */
function documentedModules(): Map<string, string[]> {
  const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
  const rows = page.matchAll(/^\| `(?<module>[a-z]+)` \|[^|]*\| (?<imports>[^|]*) \|$/gm);
  return new Map(
    [...rows].map(({ groups }) => {
      const imports = (groups?.imports ?? '').split(',').map((name) => name.trim());
      return [groups?.module ?? '', imports.filter((name) => name !== '–')];
    }),
  );
}

test('docs/architecture.md names every folder of src', () => {
  const folders = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  const modules = documentedModules();
  expect(folders.map(({ name }) => name).filter((name) => !modules.has(name))).toEqual([]);
});

test('docs/architecture.md and the checked boundaries agree on which module may import which', () => {
  const modules = documentedModules();
  expect([modules.get('schema'), modules.get('lib')]).toEqual([[], []]);
  const bounded = [...modules].filter(([module]) => module !== 'schema' && module !== 'lib');
  expect(Object.fromEntries(bounded)).toEqual(allowed);
});

test('AGENTS.md lists every module', () => {
  const agents = readFileSync(join(root, 'AGENTS.md'), 'utf8');
  const shown = [...agents.matchAll(/^- `src\/([a-z]+)\/`/gm)].map((match) => match[1]);
  expect(shown.toSorted()).toEqual([...documentedModules().keys()].toSorted());
});

test('links between the pages have a target', () => {
  const pages = ['AGENTS.md', ...markdownIn('docs')];
  const broken = pages.flatMap((page) => {
    const links = readFileSync(join(root, page), 'utf8').matchAll(/\]\((?!https?:|#)([^)#\s]+)[^)]*\)/g);
    return [...links]
      .map((link) => join(page, '..', link[1] ?? ''))
      .filter((to) => !existsSync(join(root, to)));
  });
  expect(broken).toEqual([]);
});

test('the glossary has each word once, in order', () => {
  const glossary = readFileSync(join(root, 'docs/glossary.md'), 'utf8');
  const words = [...glossary.matchAll(/^\| \*\*(.+)\*\* \|/gm)].map((match) => match[1] ?? '');
  expect(words.length).toBeGreaterThan(30);
  expect(words).toEqual([...new Set(words)].toSorted());
});

/** The public type of a task, which hides the one of `tasks`. */
const namedTwice = ['Task'];

test('two exported types never share a name', () => {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(?<!\.test|test-support)\.ts$/.test(file),
  );
  const exported = files.flatMap((file) => {
    const source = readFileSync(join(root, 'src', file), 'utf8');
    return [...source.matchAll(/^export (?:abstract )?(?:class|interface|type) (\w+)/gm)].map(
      (match) => match[1],
    );
  });
  expect(exported.length).toBeGreaterThan(500);
  const seen = new Set<unknown>();
  expect(exported.filter((name) => seen.has(name) || !seen.add(name))).toEqual(namedTwice);
});

function markdownIn(folder: string): string[] {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith('.md')).map((file) => join(folder, file));
}
