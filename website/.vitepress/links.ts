import { existsSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import type { MarkdownRenderer } from 'vitepress';
import { sitePath } from './navigation.ts';

/**
 * Links of pages are relative to where a page lies in the repository. Those to pages become links to their place on the site; those to other
 * files lead to a copy of the file, as text, so that the site needs no network and shows what belongs to it.
 */
export function repositoryLinks(root: string) {
  const files = new Set<string>();

  function onSite(href: string, page: string): string {
    const [path = '', anchor] = href.split('#');
    const target = posix.join(dirname(page), decodeURI(path));
    const end = anchor === undefined ? '' : `#${anchor}`;
    if (target.endsWith('.md') && (target.startsWith('docs/') || !target.includes('/')))
      return `/${sitePath(target)}${end}`;
    if (!existsSync(join(root, target))) return href;
    files.add(target);
    return `/files/${target}.txt`;
  }

  return {
    files: () => [...files],
    install(markdown: MarkdownRenderer): void {
      markdown.core.ruler.push('repository-links', ({ tokens, env }) => {
        const page = posix.relative(root, env.realPath ?? env.path);
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const href = token.type === 'link_open' ? token.attrGet('href') : null;
          if (href !== null && !/^([a-z]+:|#)/.test(href)) token.attrSet('href', onSite(href, page));
        }
      });
    },
  };
}
