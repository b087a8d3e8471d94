import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { allowed } from '../.dependency-cruiser.mjs';

const root = join(import.meta.dirname, '..');

/** The rooms in docs/architecture.md's table, with the rooms that each may import. */
function roomsOnTheMap(): Map<string, string[]> {
  const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
  const rows = page.matchAll(/^\| `(?<room>[a-z]+)` \|[^|]*\| (?<imports>[^|]*) \|$/gm);
  return new Map(
    [...rows].map(({ groups }) => {
      const imports = (groups?.imports ?? '').split(',').map((name) => name.trim());
      return [groups?.room ?? '', imports.filter((name) => name !== '–')];
    }),
  );
}

test('every folder of src is a room on the map', () => {
  const folders = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  const rooms = roomsOnTheMap();
  expect(folders.map(({ name }) => name).filter((name) => !rooms.has(name))).toEqual([]);
});

test('the map and the walls say the same of who may import whom', () => {
  const rooms = roomsOnTheMap();
  expect([rooms.get('schema'), rooms.get('lib')]).toEqual([[], []]);
  const walled = [...rooms].filter(([room]) => room !== 'schema' && room !== 'lib');
  expect(Object.fromEntries(walled)).toEqual(allowed);
});

test('AGENTS.md shows every room', () => {
  const agents = readFileSync(join(root, 'AGENTS.md'), 'utf8');
  const shown = [...agents.matchAll(/^- `src\/([a-z]+)\/`/gm)].map((match) => match[1]);
  expect(shown.toSorted()).toEqual([...roomsOnTheMap().keys()].toSorted());
});

test('links between the pages lead somewhere', () => {
  const pages = ['AGENTS.md', ...markdownIn('docs')];
  const broken = pages.flatMap((page) => {
    const links = readFileSync(join(root, page), 'utf8').matchAll(/\]\((?!https?:|#)([^)#\s]+)[^)]*\)/g);
    return [...links]
      .map((link) => join(page, '..', link[1] ?? ''))
      .filter((to) => !existsSync(join(root, to)));
  });
  expect(broken).toEqual([]);
});

test('the glossary says each word once, in order', () => {
  const glossary = readFileSync(join(root, 'docs/glossary.md'), 'utf8');
  const words = [...glossary.matchAll(/^\| \*\*(.+)\*\* \|/gm)].map((match) => match[1] ?? '');
  expect(words.length).toBeGreaterThan(30);
  expect(words).toEqual([...new Set(words)].toSorted());
});

function markdownIn(folder: string): string[] {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith('.md')).map((file) => join(folder, file));
}
