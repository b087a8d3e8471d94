import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agentByName, findAgent } from '../../src/agents/index.ts';
import { gradeRun } from '../../src/grading/index.ts';
import { serveViewer } from '../../src/server/index.ts';
import { inTurns, startProviderServer } from '../fakes/providers/index.ts';
import { findChromium, startChromium } from '../fixtures/chromium.ts';
import { fixtureTasks, helpersFolder, TaskBench } from '../fixtures/fixture-task.ts';
import { noSandbox } from '../fixtures/needs-sandbox.ts';
import { runAgentProgram, smallAgent } from '../fixtures/outside/outside-place.ts';

const root = join(import.meta.dirname, '../..');
const chromium = findChromium();

const script = inTurns({
  texts: ['A title'],
  turns: [
    { run: 'ls data', text: 'I look around.' },
    { run: "sed -i 's/SECOND_WEIGHT = 0/SECOND_WEIGHT = 1/' train.py && python train.py" },
    { text: 'All numbers are **added** now.' },
  ],
});
/** The log of a codex that counts its tokens differently from its provider. */
const log = [
  { type: 'thread.started', thread_id: 'session-of-its-own' },
  { type: 'turn.completed', usage: { input_tokens: 7_000, output_tokens: 77 } },
].map((event) => `echo '${JSON.stringify(event)}'`);

test('the viewer shows the run of a program like any other, with its turns, their changes, its calls and its claims', async ({
  skip,
}) => {
  if (chromium === null) return skip('there is no Chromium: apt-get install chromium');
  if (noSandbox !== undefined) return skip(`no sandbox here: ${noSandbox}`);
  const built = spawnSync(process.execPath, [join(root, 'scripts/build-viewer.mjs')], { encoding: 'utf8' });
  expect(built.status, built.stderr).toBe(0);
  using bench = new TaskBench();
  const resources = await bench.provision();
  await using server = await startProviderServer({ answer: script });
  const { agent, options } = await commandThatTells();
  const { record, folder } = await runAgentProgram(agent, options, null, {
    ...{ experiments: bench.experiments, resources, server },
    changes: { name: 'outside', roles: { fast: { model: 'fake/gpt-5-mini' } } },
  });
  expect(record, record.end?.message).toMatchObject({ status: 'finished', steps: 3 });
  const signal = new AbortController().signal;
  await gradeRun({ folder, ...resources, helpersFolder, which: 'all', signal });

  await using viewer = await serveViewer({
    ...{ folders: [bench.experiments], tasks: [fixtureTasks], version: '0', command: 'npx mlab', port: 0 },
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
  await page.getByRole('link', { name: 'outside' }).first().click();
  await page
    .getByRole('link', { name: /sums-command/ })
    .first()
    .click();
  const claimed = page.locator('.step-part', { hasText: 'Claimed by the agent' });
  await claimed.getByText('session-of-its-own').waitFor();

  await page
    .getByRole('link', { name: /^2\D.*bash/s })
    .first()
    .click();
  await page
    .getByRole('group', { name: 'changes of train.py' })
    .getByText('added: SECOND_WEIGHT = 1')
    .waitFor();
  await page.getByRole('heading', { name: '1 model call' }).waitFor();
  await page.locator('details.call summary').click();
  await page.locator('.message-answer').getByText('bash').waitFor();

  await page
    .getByRole('link', { name: /^1\D.*bash/s })
    .first()
    .click();
  await page.getByText('I look around.').first().waitFor();
  expect(problems).toEqual([]);
});

/** A command whose output is interpreted like codex's. */
async function commandThatTells() {
  const command = `command:python ${smallAgent} ; ${log.join('; ')}`;
  const { agent, options = {} } = await findAgent(command, '/');
  const { program } = agent;
  const { claim } = agentByName('codex').program ?? {};
  if (program === undefined || claim === undefined) throw new Error('both are programs');
  return { agent: { ...agent, program: { ...program, claim } }, options };
}
