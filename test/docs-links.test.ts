import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: root }).toSorted();

/** The text without code. */
function proseOf(page: string): string {
  return readFileSync(join(root, page), 'utf8')
    .replaceAll(/^```.*?^```/gms, '')
    .replaceAll(/`[^`\n]*`/g, '');
}

/** The anchors of the page's headings, as GitHub names them. */
function anchorsOf(page: string): Set<string> {
  const text = readFileSync(join(root, page), 'utf8').replaceAll(/^```.*?^```/gms, '');
  const taken = new Map<string, number>();
  const named = [...text.matchAll(/<a (?:id|name)="([^"]+)"/g)].map(([, name = '']) => name);
  const headings = [...text.matchAll(/^#+ +(.*)$/gm)].map(([, heading = '']) => {
    const plain = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .trim()
      .toLowerCase();
    const slug = plain.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(/\s/g, '-');
    const count = taken.get(slug) ?? 0;
    taken.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
  return new Set([...named, ...headings]);
}

test.each(pages)('every link of %s to a file or a heading has a target', (page) => {
  const broken = [...proseOf(page).matchAll(/\]\(([^)\s]+)(?: "[^"]*")?\)/g)].flatMap(([, link = '']) => {
    if (/^[a-z]+:/.test(link)) return [];
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : relative(root, join(root, dirname(page), decodeURI(path)));
    if (!existsSync(join(root, target))) return [link];
    const isKnown = anchor === undefined || !target.endsWith('.md') || anchorsOf(target).has(anchor);
    return isKnown ? [] : [link];
  });
  expect(broken).toEqual([]);
});
