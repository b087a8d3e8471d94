import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { serveViewer } from '../../src/server/index.ts';
import { findChromium, startChromium } from '../fixtures/chromium.ts';
import { makeExampleRun } from '../fixtures/store/example-run.ts';
import { temporaryFolder } from '../fixtures/store/folders.ts';

const root = join(import.meta.dirname, '../..');
const chromium = findChromium();

test('the viewer leads from the experiments to a run, and to the changes of one of its steps', async ({
  skip,
}) => {
  if (chromium === null) return skip('there is no Chromium: apt-get install chromium');
  const built = spawnSync(process.execPath, [join(root, 'scripts/build-viewer.mjs')], { encoding: 'utf8' });
  expect(built.status, built.stderr).toBe(0);
  using folder = temporaryFolder();
  await makeExampleRun(folder.path);
  await using viewer = await serveViewer({
    ...{ folders: [folder.path], tasks: [], version: '0', command: 'npx mlab', port: 0 },
    pages: join(root, 'viewer/dist'),
    log: (line) => console.error(line),
  });
  await using browser = await startChromium(chromium);
  const page = await browser.newPage({ viewport: { width: 1300, height: 850 } });
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  await page.goto(viewer.url);
  await page.getByRole('link', { name: 'first' }).first().click();
  await page.getByRole('link', { name: 'digits-baseline-0' }).first().click();
  await page.getByRole('link', { name: /Write File/ }).click();
  const changes = page.getByRole('group', { name: 'changes of train.py' });
  await changes.getByText('removed: lr = 0.1').waitFor();
  await changes.getByText('added: lr = 0.01').waitFor();
  expect(problems).toEqual([]);
});
