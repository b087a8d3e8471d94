import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, type HeadConfig } from 'vitepress';
import { repositoryLinks } from './links.ts';
import { sections, sitePath } from './navigation.ts';

const root = join(import.meta.dirname, '../..');
const rootPages = sections
  .flatMap(({ pages }) => pages.map(({ page }) => page))
  .filter((page) => !page.includes('/'));
const description = 'Measure how well AI agents do machine-learning research';
const repository = process.env.GITHUB_REPOSITORY && `https://github.com/${process.env.GITHUB_REPOSITORY}`;
const links = repositoryLinks(root);
const icon =
  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><path d='M2 14V9h3v5zm4.5 0V5h3v9zM11 14V2h3v12z' fill='%233b6fd4'/></svg>";

export default defineConfig({
  title: 'mlagentbench',
  description,
  head: [['link', { rel: 'icon', href: `data:image/svg+xml,${icon}` }] satisfies HeadConfig],
  // Pages are read where they lie in the repository, so that they can be read there, too.
  srcDir: root,
  srcExclude: [
    '!(docs)/**/*',
    `!(${['docs', ...rootPages.map((page) => page.replace('.md', ''))].join('|')}).md`,
  ],
  rewrites: {
    'docs/:path*': ':path*',
    ...Object.fromEntries(rootPages.map((page) => [page, sitePath(page)])),
  },
  outDir: 'dist',
  cacheDir: 'node_modules/.cache',
  ignoreDeadLinks: 'localhostLinks',
  vite: { configFile: false, publicDir: false, build: { chunkSizeWarningLimit: 2000 } },
  markdown: { anchor: { slugify: asOnGitHub }, config: (markdown) => links.install(markdown) },
  transformPageData: (page) => (page.relativePath === 'index.md' ? { frontmatter: home } : {}),
  buildEnd: ({ outDir }) => {
    for (const file of links.files()) cpSync(join(root, file), join(outDir, 'files', `${file}.txt`));
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Quick start', link: '/quick-start' },
      { text: 'Guides', link: '/how-to/view', activeMatch: '/how-to/' },
      { text: 'Reference', link: '/command-line' },
      { text: 'Results', link: '/reports/starter-suite', activeMatch: '/reports/' },
    ],
    sidebar: sections.map(({ title, pages, folded }) => ({
      text: title,
      collapsed: folded ?? false,
      items: pages.map(({ text, page }) => ({ text, link: `/${sitePath(page)}` })),
    })),
    ...(repository && {
      socialLinks: [{ icon: 'github', link: repository }],
      editLink: { pattern: `${repository}/edit/main/:path`, text: 'Edit this page' },
    }),
  },
});

/** What a link to a heading ends with: the same on the site and in the repository. */
function asOnGitHub(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}

const home = {
  layout: 'home',
  hero: {
    name: 'mlagentbench',
    text: 'How well does an AI agent do machine-learning research?',
    tagline: 'Sandboxed tasks, hidden graders, every step recorded.',
    actions: [
      { theme: 'brand', text: 'Quick start', link: '/quick-start' },
      { theme: 'alt', text: 'Concepts', link: '/concepts' },
      { theme: 'alt', text: 'Results', link: '/reports/starter-suite' },
    ],
  },
};
