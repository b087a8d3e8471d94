/**
 * Takes the documentation's pictures of the viewer: `npm run node scripts/viewer-screenshot.ts`. Runs a small experiment
 * (four minutes), serves it, and writes docs/images/viewer.png, viewer-run.png and viewer-attempts.png. With a folder of
 * experiments that contains `starters`, it uses that one.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { Report } from '../src/schema/index.ts';
import { serveViewer } from '../src/server/index.ts';
import { findChromium, startChromium } from '../test/fixtures/chromium.ts';

const root = join(import.meta.dirname, '..');
const name = 'starters';
const most = 300_000;

const [given] = process.argv.slice(2);
const folder = given ?? mkdtempSync(join(tmpdir(), 'mlab-picture-'));
try {
  if (given === undefined) {
    const agents = [
      '--agent',
      'automl,baseline,oracle',
      '--seeds',
      '2',
      '--wall-seconds',
      '30',
      '--parallel',
      '2',
    ];
    mlab('run', '--suite', 'starter', ...agents, '--grade', 'all', '--name', name);
  }
  await takePictures(chosenRuns());
} finally {
  if (given === undefined) rmSync(folder, { recursive: true, force: true });
}

function mlab(...argv: string[]): string {
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(root, 'bin/mlab.mjs'), ...argv, '--dir', folder],
    {
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  if (status !== 0) throw new Error(`mlab ${argv.join(' ')} failed`);
  return stdout;
}

/** The run of automl that improved most, and the one that tried most: they have something to show. */
function chosenRuns(): { best: string; longest: string } {
  const { runs } = Report.parse(JSON.parse(mlab('report', name, '--format', 'json')));
  const own = runs.filter(({ agent }) => agent === 'automl');
  const [best] = own.toSorted((a, b) => (b.improvement ?? -1) - (a.improvement ?? -1));
  const [longest] = own.toSorted((a, b) => (b.attempts?.length ?? 0) - (a.attempts?.length ?? 0));
  if (best === undefined || longest === undefined) throw new Error('no run of automl is there');
  return { best: best.run, longest: longest.run };
}

async function takePictures({ best, longest }: { best: string; longest: string }): Promise<void> {
  const program = findChromium();
  if (program === null) throw new Error('there is no Chromium: apt-get install chromium');
  const build = spawnSync(process.execPath, [join(root, 'scripts/build-viewer.mjs')], { stdio: 'inherit' });
  if (build.status !== 0) throw new Error('the pages could not be built');
  await using viewer = await serveViewer({
    ...{ folders: [folder], tasks: [join(root, 'tasks')], version: '', command: 'npx mlab', port: 0 },
    pages: join(root, 'viewer/dist'),
    log: console.error,
  });
  const browser = await startChromium(program);
  try {
    const page = await browser.newPage({ viewport: { width: 1240, height: 900 }, colorScheme: 'light' });
    await page.goto(`${viewer.url}#/experiments/${name}`);
    await page.locator('.heat-map').waitFor();
    await save(page, 'viewer.png');
    await page.goto(`${viewer.url}#/experiments/${name}/runs/${longest}`);
    const heading = page.getByRole('heading', { name: 'Attempts', exact: true });
    await save(page.locator('.step-part', { has: heading }), 'viewer-attempts.png');
    await page.goto(`${viewer.url}#/experiments/${name}/runs/${best}`);
    await page.locator('.step-summary').first().waitFor();
    const edits = page.getByRole('link', { name: /Write File|Edit File/ });
    const ofValues = edits.filter({ hasText: '→' });
    // A new file has no comparison.
    const ofLines = edits.filter({ hasText: /[−-]\d+ lines?/ });
    await ((await ofValues.count()) > 0 ? ofValues : ofLines).first().click();
    await page.locator('.diff').first().waitFor();
    await page.locator('.timeline-score').waitFor({ state: 'attached' });
    await page
      .locator('.diff')
      .first()
      .evaluate((diff) => diff.scrollIntoView({ block: 'nearest' }));
    await save(page, 'viewer-run.png');
  } finally {
    await browser.close();
  }
}

async function save(shown: Page | Locator, file: string): Promise<void> {
  const path = join(root, 'docs/images', file);
  await shown.screenshot({ path });
  const { size } = statSync(path);
  if (size > most) throw new Error(`${file} has ${size} bytes: more than ${most}`);
  console.log(`docs/images/${file}: ${size} bytes`);
}
