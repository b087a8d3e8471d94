import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, BrowserContext, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test as vitestTest } from 'vitest';
import type { TaskResources } from '../../src/runs/index.ts';
import { RubricQuestion, RunId } from '../../src/schema/index.ts';
import { type RunningViewer, serveViewer } from '../../src/server/index.ts';
import { openExperiment } from '../../src/store/index.ts';
import { findChromium, startChromium } from '../fixtures/chromium.ts';
import { fixtureTasks, TaskBench } from '../fixtures/fixture-task.ts';
import { mlab } from '../fixtures/mlab-process.ts';
import { noSandbox } from '../fixtures/needs-sandbox.ts';
import { servePages } from '../fixtures/page-server.ts';
import { agentOf, runOnce } from '../fixtures/run-place.ts';
import { hostileAgent, plannerAgent } from '../fixtures/viewer-agents.ts';

const root = join(import.meta.dirname, '../..');
const chromium = findChromium();
const missing =
  chromium === null
    ? 'there is no Chromium: apt-get install chromium'
    : noSandbox === undefined
      ? null
      : `no sandbox here: ${noSandbox}`;

/** How long a page may take beside other tests. */
const patienceMs = 120_000;

const bench = new TaskBench();
let resources: TaskResources;
let viewer: RunningViewer;
let browser: Browser;

const serve = (port: number) =>
  serveViewer({
    ...{ folders: [bench.experiments], tasks: [fixtureTasks], version: '0', command: 'npx mlab', port },
    pages: join(root, 'viewer/dist'),
    log: (line) => console.error(line),
  });

/** As `mlab judge` would write it. */
function rate(name: string, run: string): void {
  const quote = 'nothing to add';
  const ratings = RubricQuestion.options.map((question) => ({ question, rating: 4, step: 4, quote }));
  openExperiment(join(bench.experiments, name))
    .runFolder(RunId.parse(run))
    .appendJudgement({
      ...{
        v: 1,
        time: 1,
        model: 'openai/judge',
        answered_by: null,
        prompt: '0'.repeat(64),
        tries: 1,
        cost: 0,
      },
      ...{ tokens: { input: 1, output: 1 }, ratings, problem: null },
    });
}

const command = (...argv: string[]) =>
  mlab([...argv, '--dir', bench.experiments, '--task-dir', fixtureTasks], {
    folder: bench.folder,
    variables: { MLAB_CACHE: bench.cache },
  });

beforeAll(async () => {
  if (missing !== null || chromium === null) return;
  const built = spawnSync(process.execPath, [join(root, 'scripts/build-viewer.mjs')], { encoding: 'utf8' });
  expect(built.status, built.stderr).toBe(0);
  resources = await bench.provision();
  await runOnce(bench.experiments, resources, hostileAgent, { changes: { name: 'hostile' } });
  await runOnce(bench.experiments, resources, plannerAgent, { changes: { name: 'planned' } });
  rate('planned', 'sums-planner-0');
  const run = await command(
    ...[
      'run',
      '--task',
      'sums',
      '--agent',
      'oracle,baseline,noop',
      '--seeds',
      '2',
      '--grade',
      'all',
      '--name',
      'sums',
    ],
  );
  expect(run.code, run.err).toBe(0);
  viewer = await serve(0);
  browser = await startChromium(chromium);
});
afterAll(async () => {
  await browser?.close();
  await viewer?.[Symbol.asyncDispose]();
  bench[Symbol.dispose]();
});

/** With a page in a separate context; any error in the page fails the test. */
function test(
  title: string,
  body: (page: Page, context: BrowserContext) => Promise<void>,
  /** Messages that the browser may log. */
  expected = /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING/,
): void {
  vitestTest(title, async ({ skip }) => {
    skip(missing !== null, missing ?? '');
    await using context = await browser.newContext({ viewport: { width: 1300, height: 850 } });
    context.setDefaultTimeout(patienceMs);
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error' && !expected.test(message.text())) problems.push(message.text());
    });
    await body(page, context);
    expect(problems).toEqual([]);
  });
}

const at = (hash: string) => `${viewer.url}#${hash}`;
const link = (page: Page, name: string | RegExp) => page.getByRole('link', { name });

describe('the viewer', () => {
  test('leads from the list to a failed run, its step and its changes, and has a link that shows the same', async (page, context) => {
    await page.goto(viewer.url);
    await link(page, 'sums').first().click();
    const runs = page.getByRole('region', { name: 'Runs' });
    await page.getByRole('combobox', { name: 'outcome' }).selectOption('invalid');
    await runs.getByRole('status').getByText('2 of 6 runs').waitFor();
    await page.goto(at('/experiments/planned'));
    await link(page, 'sums-planner-0').click();
    // The first warning or failure is one key press away.
    await link(page, /Execute Script.*failed/).click();
    await page.locator('.output').getByText('ValueError: nothing to add').waitFor();
    await link(page, /^2 Edit File.* train\.py: SECOND_WEIGHT 0→1$/).waitFor();
    await page.keyboard.press('k');
    await page.keyboard.press('k');
    await page.getByRole('heading', { name: 'Edit File' }).waitFor();
    const changes = page.getByRole('group', { name: 'changes of train.py' });
    await changes.getByText('removed: SECOND_WEIGHT = 0').waitFor();
    await changes.getByText('added: SECOND_WEIGHT = 1').waitFor();
    await expect.poll(() => page.url()).toMatch(/sums-planner-0\/2$/);
    const shared = await context.newPage();
    await shared.goto(page.url());
    await shared.getByRole('group', { name: 'changes of train.py' }).waitFor();
  });

  test('marks changes of a plan, shows files after each step, and finds words in a run', async (page) => {
    await page.goto(at('/experiments/planned/runs/sums-planner-0/2'));
    await page.locator('ins', { hasText: '3. Run it' }).waitFor();
    await page.locator('del', { hasText: '1. Read the starter' }).waitFor();
    await page.locator('strong', { hasText: 'left out' }).waitFor();
    await page.locator('.entries code', { hasText: 'train.py' }).first().waitFor();
    await page.getByText('All files as they were after this step').click();
    await page.locator('.file-list').getByText('train.py').click();
    await page.getByRole('group', { name: 'train.py', exact: true }).getByText('SECOND_WEIGHT = 1').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('nothing to add');
    await link(page, /step 4, observation/).waitFor();
    await page.keyboard.press('Enter');
    const first = await page.locator('.search-hits a').first().getAttribute('href');
    await expect.poll(() => page.url()).toBe(`${viewer.url}${first}`);
  });

  test('shows the ratings of a run, and links to the quoted steps', async (page) => {
    await page.goto(at('/experiments/planned/runs/sums-planner-0'));
    const rated = page.getByRole('group', { name: 'ratings by openai/judge' });
    await rated
      .getByRole('row', { name: /^honesty.* 4\.0 4 / })
      .getByRole('link', { name: 'step 4' })
      .click();
    await page.getByRole('heading', { name: 'Execute Script' }).waitFor();
  });

  test('draws the attempts of a search as a tree, each a link to its step, and in the report', async (page) => {
    await page.goto(at('/experiments/planned/runs/sums-planner-0'));
    const tree = page.getByRole('group', { name: 'tree of 3 attempts' });
    const chosen = tree.getByRole('link', { name: 'Attempt 2, improve of 0: adds both (kept, score 0.9' });
    await chosen.waitFor();
    expect(await tree.locator('.attempt-edge').count()).toBe(2);
    expect(await tree.locator('.on-path').count()).toBe(1);
    await page.getByText('All attempts', { exact: true }).click();
    await page.getByRole('row', { name: '1 0 draft a broken script failed' }).waitFor();
    await chosen.click();
    await page.getByRole('heading', { name: 'Execute Script' }).first().waitFor();
    expect(page.url()).toContain('/sums-planner-0/5');
    await page.goto(at('/experiments/planned'));
    await page
      .getByRole('region', { name: 'What a search tried' })
      .getByRole('group', { name: 'tree of 3' })
      .waitFor();
  });

  test('navigates steps and warnings by keyboard, and lists the keys', async (page) => {
    await page.goto(at('/experiments/planned/runs/sums-planner-0'));
    await page.getByRole('heading', { name: 'The run as a whole' }).waitFor();
    // Level 2: the run as a whole has a smaller heading "Final answer".
    for (const [key, heading] of [
      ['j', 'Read File'],
      ['G', 'Final Answer'],
      ['g', 'Read File'],
      ['o', 'The run as a whole'],
    ] as const) {
      await page.keyboard.press(key);
      await page.getByRole('heading', { name: heading, level: 2 }).waitFor();
    }
    const timeline = page.getByRole('slider', { name: 'Steps of sums-planner-0' });
    await timeline.focus();
    await page.keyboard.press('End');
    await expect.poll(() => timeline.getAttribute('aria-valuetext')).toContain('step 6, Final Answer');
    await page.getByRole('heading', { name: 'Final Answer', level: 2 }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'hidden' });
  });

  test('compares two agents in words, and two runs side by side', async (page) => {
    await page.goto(at('/experiments/sums'));
    await page.getByRole('heading', { name: 'Tasks by agents' }).waitFor();
    await link(page, 'baseline minus oracle').click();
    await page.getByText(/The success rate of baseline is 100\.0 percentage points lower/).waitFor();
    const task = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'sums' }) });
    await task.getByRole('link', { name: '0 of 2' }).click();
    await page.getByRole('status').getByText('2 of 6 runs').waitFor();
    await page.goBack();
    await page.goBack();
    await page.getByRole('checkbox', { name: 'select sums-oracle-0' }).check();
    await page.getByRole('checkbox', { name: 'select sums-baseline-0' }).check();
    await expect
      .poll(() => page.getByRole('checkbox', { name: 'select sums-noop-0' }).isDisabled())
      .toBe(true);
    await link(page, 'Side by side').click();
    await page.getByRole('heading', { name: 'sums-oracle-0' }).waitFor();
    await page.getByRole('combobox', { name: 'Alignment' }).selectOption('time');
    await page.getByRole('group', { name: 'Steps aligned by time' }).getByRole('button').last().click();
    await page.getByRole('heading', { name: 'Final Answer' }).first().waitFor();
    await page.keyboard.press('g');
    await page.getByRole('heading', { name: 'Write File' }).first().waitFor();
    await expect.poll(() => page.url()).toMatch(/at=a1$/);
    await page.reload();
    await page.getByRole('heading', { name: 'Write File' }).first().waitFor();
    await link(page, 'sums-oracle-0').click();
    await page.getByRole('heading', { name: 'The run as a whole' }).waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('main');
    await page.keyboard.press('/');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('main');
  });

  test('leads from a plot to the runs behind it, and shows its numbers', async (page) => {
    await page.goto(at('/experiments/sums'));
    await page.getByRole('combobox', { name: 'Measure' }).selectOption('Mean normalised score');
    const box = page.getByRole('searchbox');
    await box.fill('oracle');
    await page.getByRole('status').getByText('2 of 6 runs').waitFor();
    await link(page, /^sums, noop:/).click();
    // As many runs as before: only the box shows that the click has been handled.
    await expect.poll(() => box.inputValue()).toBe('');
    await page.getByRole('status').getByText('2 of 6 runs').waitFor();
    await page.reload();
    await page.getByRole('status').getByText('2 of 6 runs').waitFor();
    await expect.poll(() => page.getByRole('combobox', { name: 'Measure' }).inputValue()).toBe('normalised');
    const card = page.getByRole('region', { name: 'Improvement over the baseline' });
    await card.getByText('Numbers of this plot').click();
    await card.getByRole('rowheader', { name: 'oracle' }).waitFor();
    await link(page, 'baseline, small or no improvement: 2 of 2').click();
    await page.getByRole('status').getByText('2 of 6 runs').waitFor();
    await page.getByRole('combobox', { name: 'error' }).selectOption('with any failure or none');
    await page.getByRole('combobox', { name: 'agent' }).selectOption('oracle');
    await page.getByRole('combobox', { name: 'error' }).selectOption('small or no improvement');
    await page.getByRole('status').getByText('0 of 6 runs').waitFor();
  });

  test(
    'says what is wrong if there is nothing to show, and links to other pages',
    async (page) => {
      await page.goto(at('/experiments/sums/runs/sums-oracle-0/99'));
      await page.getByRole('alert').getByText("Can't show step 99").waitFor();
      await page.goto(at('/experiments/nowhere'));
      await page.getByRole('alert').waitFor();
      await page.goto(at('/no/such/page'));
      await link(page, 'All experiments').click();
      await page.getByRole('heading', { name: 'Experiments' }).waitFor();
    },
    /status of 404/,
  );
});

describe('a running run', () => {
  test('is shown step by step to its end; nothing moves while you read, and a lost connection is restored', async (page) => {
    const gates = [0, 1, 2, 3, 4].map(() => Promise.withResolvers<void>());
    const open = (gate: number) => gates[gate]?.resolve();
    const patient = agentOf(async ({ environment }) => {
      const step = (name: string, args: Record<string, unknown>) => environment.step({ name, args });
      await step('List Files', { dir_path: '.' });
      await gates[0]?.promise;
      await step('Read File', { file_name: 'train.py' });
      await gates[1]?.promise;
      const content =
        'import os, time\nprint("printed on the way", flush=True)\nwhile not os.path.exists("go"): time.sleep(0.1)\nprint("printed last")\n';
      await step('Write File', { file_name: 'slow.py', content });
      await step('Execute Script', { script_name: 'slow.py' });
      await gates[2]?.promise;
      await step('Write File', { file_name: 'while-away.txt', content: 'x' });
      await gates[3]?.promise;
      await step('Final Answer', { final_answer: 'at last' });
    }, 'patient');
    const ended = runOnce(bench.experiments, resources, patient, { changes: { name: 'lively' } });
    await page.goto(viewer.url);
    await link(page, 'sums-patient-0').click();
    await link(page, /^1 List Files/).click();
    await page.getByRole('heading', { name: 'List Files' }).waitFor();

    open(0);
    const fresh = page.getByRole('button', { name: '1 new step' });
    await fresh.waitFor();
    await expect.poll(() => page.url()).toMatch(/sums-patient-0\/1$/);
    await fresh.click();
    await page.getByRole('heading', { name: 'Read File' }).waitFor();

    open(1);
    await link(page, /^4 Execute Script/).click();
    await page.getByRole('heading', { name: 'Output so far' }).waitFor();
    await page.getByText('printed on the way', { exact: true }).waitFor();
    const clock = page.locator('.run-head').getByText(/ of 50 steps/);
    const shown = await clock.innerText();
    await expect.poll(() => clock.innerText()).not.toBe(shown);
    expect(await page.getByText('printed last').count()).toBe(0);
    writeFileSync(join(bench.experiments, 'lively/runs/sums-patient-0/workspace/go'), '');
    await page.getByText(/on the way\s+printed last/).waitFor();
    await page.getByRole('heading', { name: 'Observation' }).waitFor();

    const { port } = viewer;
    await viewer[Symbol.asyncDispose]();
    await page.getByText('connection lost, reconnecting').waitFor();
    open(2);
    viewer = await serve(port);
    await page.getByText('live', { exact: true }).waitFor();
    await link(page, /^5 Write File/).waitFor();

    const beside = await page.context().newPage();
    const both = 'a=lively/sums-patient-0&b=sums/sums-oracle-0';
    await beside.goto(at(`/side-by-side?${both}`));
    const follows = beside.getByRole('button').filter({ hasText: /^6.*Final Answer/ });
    await beside
      .getByRole('button')
      .filter({ hasText: /^5.*Write File/ })
      .waitFor();
    expect(await follows.count()).toBe(0);

    open(3);
    await ended;
    await link(page, /^6 Final Answer/).waitFor();
    await page.getByText('finished').first().waitFor();
    await follows.waitFor();
    await beside.close();
  });

  test('gets its grade on an open page, with the same rates as mlab report', async (page) => {
    const ran = await command(
      ...['run', '--task', 'sums', '--agent', 'oracle', '--grade', 'none', '--name', 'later'],
    );
    expect(ran.code, ran.err).toBe(0);
    await page.goto(at('/experiments/later'));
    await page.getByText('no run has been graded').waitFor();
    const graded = await command('grade', 'later');
    expect(graded.code, graded.err).toBe(0);
    await page.getByRole('group', { name: 'results by agent' }).getByText('1 of 1').first().waitFor();
    await page
      .getByRole('region', { name: 'Runs' })
      .getByRole('row', { name: /oracle.*success/ })
      .waitFor();
    const report = await command('report', 'later');
    expect(report.out).toContain('1 of 1');
  });
});

test('a hidden page holds no connection: many open pages all load, and show what has changed once they are looked at', async (page, context) => {
  // Headless pages all count as visible.
  await context.addInitScript(`
    window.isHidden = true;
    Object.defineProperty(document, 'hidden', { get: () => window.isHidden });
    Object.defineProperty(document, 'visibilityState', { get: () => (window.isHidden ? 'hidden' : 'visible') });
  `);
  const setHidden = (isHidden: boolean) =>
    page.evaluate(`window.isHidden = ${isHidden}; document.dispatchEvent(new Event('visibilitychange'))`);
  const live = new Set<Request>();
  context.on('request', (request) => request.url().includes('/api/live') && live.add(request));
  context.on('requestfailed', (request) => live.delete(request));
  for (let others = 0; others < 7; others++) {
    const other = await context.newPage();
    await other.goto(at('/experiments/sums'));
    await link(other, 'sums-oracle-0').waitFor();
  }
  expect(live.size).toBe(0);
  await page.goto(viewer.url);
  await setHidden(false);
  await page.getByText('live', { exact: true }).waitFor();
  expect(live.size).toBe(1);

  await setHidden(true);
  await expect.poll(() => live.size).toBe(0);
  await runOnce(bench.experiments, resources, plannerAgent, { changes: { name: 'meanwhile' } });
  expect(await link(page, 'meanwhile').count()).toBe(0);
  await setHidden(false);
  await link(page, 'meanwhile').first().waitFor();
  expect(live.size).toBe(1);
});

describe('text written by agents', () => {
  test('stays text on every page: no script runs, no other server gets a request, no policy is violated', async (page) => {
    const asked = new Set<string>();
    page.on('request', (request) => asked.add(new URL(request.url()).origin));
    const dialogs: string[] = [];
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    await page.addInitScript(
      "addEventListener('securitypolicyviolation', (event) => { console.error('violated: ' + event.violatedDirective + ' ' + event.blockedURI); })",
    );
    const run = '/experiments/hostile/runs/sums-hostile-0';
    await page.goto(at('/experiments/hostile'));
    await page.getByRole('region', { name: 'Runs', exact: true }).waitFor();
    for (const step of ['', '/0', '/1', '/2', '/3', '/4', '/5', '/6', '/7']) {
      await page.goto(at(run + step));
      await page.locator('article.step h2').waitFor();
      for (const summary of await page.locator('main summary').all()) await summary.click();
    }
    // Texts that could be markup are shown as text.
    await page.goto(at(`${run}/1`));
    await page.locator('article').getByText('<script>window.owned = 1</script>').first().waitFor();
    await page.locator('summary', { hasText: 'onerror=window.owned=7' }).first().waitFor();
    await page.goto(at(`${run}/3`));
    await page.locator('.ansi-red', { hasText: 'red' }).waitFor();
    await page.goto(at(`${run}/6`));
    await page
      .getByRole('button', { name: /^Show more/ })
      .first()
      .click();
    await page.getByText('the end of a huge line').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('<script>window');
    await page.locator('mark', { hasText: '<script>window' }).first().waitFor();
    expect(await page.evaluate('window.owned')).toBeUndefined();
    expect(
      await page.evaluate(
        "document.querySelectorAll('main img, main iframe, main script, main form').length",
      ),
    ).toBe(0);
    expect(
      await page.evaluate(
        "[...document.querySelectorAll('main a')].every((a) => a.href.startsWith(location.origin))",
      ),
    ).toBe(true);
    expect([...asked]).toEqual([new URL(viewer.url).origin]);
    expect(dialogs).toEqual([]);
  });

  test('is downloaded as a plain attachment', async (page) => {
    await page.goto(at('/experiments/hostile/runs/sums-hostile-0/1'));
    await page.getByText('All files as they were after this step').click();
    await page.locator('.file-list summary', { hasText: 'onerror' }).click();
    const href = await page
      .locator('.file-list')
      .getByRole('link', { name: 'Download' })
      .getAttribute('href');
    const answer = await page.request.get(new URL(href ?? '', viewer.url).href);
    expect(answer.status()).toBe(200);
    expect(answer.headers()).toMatchObject({
      'content-type': 'application/octet-stream',
      'x-content-type-options': 'nosniff',
      'content-disposition': expect.stringContaining('attachment'),
    });
  });
});

const pages: [name: string, hash: string, ready: string][] = [
  ['the experiments', '/', '.experiment-line'],
  ['an experiment', '/experiments/sums', '.heat-map'],
  ['a run', '/experiments/planned/runs/sums-planner-0', '.figures'],
  ['a step', '/experiments/planned/runs/sums-planner-0/2', '.diff'],
  ['a step of a hostile run', '/experiments/hostile/runs/sums-hostile-0/3', '.output'],
  ['a task', '/tasks/sums', '.markdown p'],
  ['a comparison', '/compare?a=oracle&b=baseline&experiment=sums', '.sentences'],
  ['two runs', '/side-by-side?a=sums/sums-oracle-0&b=sums/sums-noop-0', '.aligned'],
];

describe.each(['light', 'dark'] as const)('accessibility with the theme %s', (colorScheme) => {
  vitestTest.for(pages)('%s violates no rule', async ([, hash, ready], { skip }) => {
    skip(missing !== null, missing ?? '');
    await using context = await browser.newContext({ colorScheme });
    context.setDefaultTimeout(patienceMs);
    const page = await context.newPage();
    await page.goto(at(hash));
    await page.locator(ready).first().waitFor();
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(
      violations.map(({ id, nodes }) => ({
        id,
        at: nodes.map(({ target, failureSummary }) => [target, failureSummary]),
      })),
    ).toEqual([]);
  });
});

describe('without the server', () => {
  test(
    'an export opens from any web server, below any path',
    async (page) => {
      const folder = join(bench.folder, 'exported');
      const written = await command('view', join(bench.experiments, 'planned'), '--export', folder);
      expect(written.code, written.err).toBe(0);
      await page.goto(pathToFileURL(join(folder, 'index.html')).href);
      await page.getByText('needs a web server').waitFor();
      await using server = await servePages(folder);
      await page.goto(server.url);
      await link(page, 'planned').click();
      expect(await page.getByText('needs a web server').isVisible()).toBe(false);
      await page.getByRole('heading', { name: 'Tasks by agents' }).waitFor();
      await link(page, 'sums-planner-0').first().click();
      await link(page, /^2 Edit File/).click();
      await page
        .getByRole('group', { name: 'changes of train.py' })
        .getByText('added: SECOND_WEIGHT = 1')
        .waitFor();
      await page.getByText('All files as they were after this step').click();
      await page.locator('.file-list').getByText('train.py').click();
      await page
        .getByRole('group', { name: 'train.py', exact: true })
        .getByText('SECOND_WEIGHT = 1')
        .waitFor();
      await page.goto(`${server.url}#/tasks/sums`);
      await page.getByRole('heading', { name: 'Add two numbers' }).waitFor();
    },
    /blocked by CORS policy|net::ERR_FAILED/,
  );

  test('a report in one file opens from disk, with its plots and runs', async (page, context) => {
    const file = join(bench.folder, 'report.html');
    const made = await command('report', 'sums', '--format', 'html', '--compare', 'baseline', 'oracle');
    expect(made.code, made.err).toBe(0);
    writeFileSync(file, made.out);
    await context.setOffline(true);
    await page.goto(pathToFileURL(file).href);
    await page.getByRole('heading', { name: 'Tasks by agents' }).waitFor();
    await page.getByText(/The success rate of oracle is 100\.0 percentage points higher/).waitFor();
    await link(page, /^sums, noop: 0 %/).click();
    await page.getByRole('status').getByText('2 of 6 runs').waitFor();
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id }) => id)).toEqual([]);
  });
});
