import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { reportPage } from '../../src/server/index.ts';
import { buildReport } from '../../src/statistics/index.ts';
import { findChromium, startChromium } from '../fixtures/chromium.ts';
import { evaluation } from '../fixtures/evaluations.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const root = join(import.meta.dirname, '../..');
const chromium = findChromium();

/** The width between the margins of an A4 page, in CSS pixels: 186 mm. */
const paperWidth = 703;

const agents = [
  'automl',
  'baseline',
  'research(openai/gpt-4.1-mini)',
  'tools(anthropic/claude)',
  'langchain',
];
const tasks = ['identify-contrails', 'literature-review-tool', 'parkinsons-disease', 'house-price'];
const runs = agents.flatMap((agent, strength) =>
  tasks.flatMap((task) =>
    [0, 1, 2, 3].map((seed) =>
      evaluation({ agent, task, seed, scores: [0.5 + 0.02 * strength + 0.01 * seed] }),
    ),
  ),
);

function writtenReport(): string {
  const built = spawnSync(process.execPath, [join(root, 'scripts/build-viewer.mjs')], { encoding: 'utf8' });
  expect(built.status, built.stderr).toBe(0);
  const file = join(temporaryFolder(), 'report.html');
  const report = buildReport(runs);
  const data = { v: 1, title: 'printed', mlab: '1', report, comparison: null } as const;
  writeFileSync(file, reportPage(join(root, 'viewer/dist'), { ...data, unreadable: [] }));
  return file;
}

test('a printed report shows every run, and nothing is cut off at the right', async ({ skip }) => {
  if (chromium === null) return skip('there is no Chromium: apt-get install chromium');
  await using browser = await startChromium(chromium);
  const page = await browser.newPage({ viewport: { width: paperWidth, height: 600 } });
  await page.goto(pathToFileURL(writtenReport()).href);
  await page.getByRole('heading', { name: 'Tasks by agents' }).waitFor();
  const rows = page.locator('.runs-table tbody tr[aria-rowindex]');
  await expect.poll(() => rows.count()).toBeLessThan(runs.length);
  await page.emulateMedia({ media: 'print' });
  await rows.nth(runs.length - 1).waitFor();
  await expect.poll(() => rows.count()).toBe(runs.length);
  const cut = await page
    .locator('main table, main svg, main h2, main p')
    .evaluateAll(
      (all, width) =>
        all
          .filter((one) => one.getBoundingClientRect().right > width + 1)
          .map((one) => one.outerHTML.slice(0, 200)),
      paperWidth,
    );
  expect(cut).toEqual([]);
});
