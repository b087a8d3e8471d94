import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sections, sitePath } from '../website/.vitepress/navigation.ts';

const root = join(import.meta.dirname, '..');
const listed = sections.flatMap(({ pages }) => pages.map(({ page }) => page));

test('every page of the documentation is in the navigation once, except for the decisions, which have an index page', () => {
  const pages = globSync('docs/**/*.md', { cwd: root }).filter((page) => !/decisions\/\d/.test(page));
  expect(listed.filter((page) => page.startsWith('docs/')).toSorted()).toEqual(pages.toSorted());
  expect(listed.filter((page) => !existsSync(join(root, page)))).toEqual([]);
});

test('no two pages have the same address on the site', () => {
  const addresses = listed.map((page) => sitePath(page).toLowerCase());
  expect(new Set(addresses).size).toBe(listed.length);
});

test('every decision is listed', () => {
  const index = readFileSync(join(root, 'docs/decisions/index.md'), 'utf8');
  const decisions = globSync('docs/decisions/[0-9]*.md', { cwd: root }).map((page) => page.split('/').at(-1));
  expect(decisions.filter((page) => !index.includes(`(${page})`))).toEqual([]);
});
