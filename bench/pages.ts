import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { z } from 'zod';
import { UserError } from '../src/lib/errors.ts';
import { serveViewer } from '../src/server/index.ts';
import { findChromium, startChromium } from '../test/fixtures/chromium.ts';
import { type Benchmark, type Measurement, median, quantile } from './benchmark.ts';
import { generateExperiments, generateLongRun } from './generated-viewer-store.ts';
import { buildPages } from './task-resources.ts';

const root = join(import.meta.dirname, '..');
const Numbers = z.array(z.number());

export const pages: Benchmark = {
  name: 'pages',
  summary: "the viewer's pages in Chromium: first load, 10,000 runs, a run of 20,000 steps",
  async measure({ quick, scratch, log }) {
    const program = findChromium();
    if (program === null) {
      throw new UserError(
        'no_chromium',
        'There is no Chromium here.',
        'Debian and Ubuntu: apt-get install chromium',
      );
    }
    buildPages();
    const [experiments, runs, steps] = quick ? [4, 20, 200] : [40, 250, 20_000];
    log('generating runs');
    await generateExperiments(join(scratch, 'many'), experiments, runs);
    const run = generateLongRun(join(scratch, 'long'), steps);
    await run.trace.close();
    await using viewer = await serveViewer({
      ...{
        folders: [join(scratch, 'many'), join(scratch, 'long')],
        tasks: [],
        version: '',
        command: '',
        port: 0,
      },
      pages: join(root, 'viewer/dist'),
      log,
    });
    const browser = await startChromium(program);
    try {
      const page = await browser.newPage({ viewport: { width: 1300, height: 900 } });
      const at = (hash: string) => `${viewer.url}#${hash}`;
      log('the pages');
      return [
        firstLoad(),
        ...(await manyRuns(page, viewer.url, at, experiments * runs)),
        ...(await longRun(page, at, steps)),
      ];
    } finally {
      await browser.close();
    }
  },
};

/** What the list of experiments needs: the page, its style, and the scripts that it loads; compressed as a server does. */
function firstLoad(): Measurement {
  const dist = join(root, 'viewer/dist');
  const assets = readdirSync(join(dist, 'assets')).filter(
    (name) => !/^(markdown-text|coloured-code)/.test(name),
  );
  const files = [join(dist, 'index.html'), ...assets.map((name) => join(dist, 'assets', name))];
  const bytes = files
    .map((file) => brotliCompressSync(readFileSync(file)).length)
    .reduce((sum, size) => sum + size, 0);
  return measured(
    'first load, compressed',
    bytes,
    'bytes',
    350_000,
    'every page but Markdown and colours of code, which come later',
  );
}

async function manyRuns(
  page: Page,
  url: string,
  at: (hash: string) => string,
  runs: number,
): Promise<Measurement[]> {
  let begun = performance.now();
  await page.goto(url);
  await page.locator('.experiment-line').first().waitFor();
  const first = (performance.now() - begun) / 1000;
  begun = performance.now();
  await page.goto(at('/tasks/digits'));
  await page.locator('.runs-table tbody tr').nth(5).waitFor({ timeout: 60_000 });
  const open = (performance.now() - begun) / 1000;
  const filters = await framesAfter(
    page,
    10,
    `(round) => {
    const box = document.querySelector('.runs-head input');
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(box, ['digits', 'digits 1', '', '7'][round % 4]);
    box.dispatchEvent(new Event('input', { bubbles: true }));
  }`,
  );
  const sorts = await framesAfter(
    page,
    10,
    `(round) => document.querySelectorAll('.runs-table .sort')[round % 8].click()`,
  );
  const size = `${runs} runs`;
  return [
    measured('first rows of the list of experiments on the page', first, 's', 1, size),
    measured('the page of a task with all runs on it', open, 's', null, size),
    measured(
      'filtering them, to the next frame',
      quantile(filters, 0.95),
      'ms',
      100,
      `95th percentile; median ${median(filters).toFixed(0)} ms`,
    ),
    measured(
      'sorting them, to the next frame',
      quantile(sorts, 0.95),
      'ms',
      100,
      `95th percentile; median ${median(sorts).toFixed(0)} ms`,
    ),
  ];
}

async function longRun(page: Page, at: (hash: string) => string, steps: number): Promise<Measurement[]> {
  const begun = performance.now();
  await page.goto(at('/experiments/long/runs/digits-research-0'));
  await page.locator('.step-line').nth(5).waitFor();
  const open = (performance.now() - begun) / 1000;
  await page.goto(at('/experiments/long/runs/digits-research-0/1'));
  await page.locator('.step h2').waitFor();
  const times: number[] = [];
  for (let count = 1; count <= 30; count++) {
    const step = 1 + ((count * 7919) % steps);
    times.push(z.number().parse(await page.evaluate(goToStep(step))));
  }
  const frames = Numbers.parse(
    await page.evaluate(`new Promise((done) => {
      const list = document.querySelector('.step-list');
      const frames = [];
      let last = performance.now();
      const next = (now) => {
        frames.push(now - last);
        last = now;
        list.scrollTop += 400;
        if (frames.length < 240) requestAnimationFrame(next);
        else done(frames.slice(5));
      };
      requestAnimationFrame(next);
    })`),
  );
  const size = `${steps} steps`;
  return [
    measured('a long run, until its steps are listed', open, 's', 1, `${size}; for the first time`),
    measured(
      'any step of it on the page, 95th percentile',
      quantile(times, 0.95),
      'ms',
      150,
      `of 30; median ${median(times).toFixed(0)} ms`,
    ),
    measured(
      'a frame while its steps are scrolled, mean',
      frames.reduce((sum, frame) => sum + frame, 0) / frames.length,
      'ms',
      17.5,
      `of ${frames.length}, 400 pixels each; 95th percentile ${quantile(frames, 0.95).toFixed(1)} ms; 60 a second are 16.7 ms`,
    ),
  ];
}

/** Goes to a step as a link does, and looks in every frame whether it is there. */
function goToStep(step: number): string {
  return `new Promise((done) => {
    const begun = performance.now();
    location.hash = '#/experiments/long/runs/digits-research-0/${step}';
    const look = () => {
      if (document.querySelector('article[aria-label="step ${step}"] .step-head')) done(performance.now() - begun);
      else requestAnimationFrame(look);
    };
    look();
  })`;
}

/** Milliseconds from doing something on the page until it was drawn anew. */
async function framesAfter(page: Page, times: number, act: string): Promise<number[]> {
  const found: number[] = [];
  for (let round = 0; round < times; round++) {
    found.push(
      z.number().parse(
        await page.evaluate(`new Promise((done) => {
          const begun = performance.now();
          (${act})(${round});
          requestAnimationFrame(() => setTimeout(() => done(performance.now() - begun)));
        })`),
      ),
    );
  }
  return found;
}

function measured(
  what: string,
  value: number,
  unit: string,
  atMost: number | null,
  note: string,
): Measurement {
  return { what, value, unit, atMost, note };
}
