import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { fixtureTasks, TaskBench } from '../../test/fixtures/fixture-task.ts';
import { mlab } from '../../test/fixtures/mlab-process.ts';
import { describeInSandbox } from '../../test/fixtures/needs-sandbox.ts';

const bench = new TaskBench();
afterAll(() => bench[Symbol.dispose]());

const logFile = join(bench.folder, 'log.jsonl');

/** Text of an agent or its scripts that no line of a log may contain. */
const private_ = 'PRIVATE-4711';
const script = [
  { fails: { failure: 'rate_limited', message: private_, retry_after_seconds: 0 } },
  {
    text: private_,
    tool_calls: [
      { name: 'Write_File', input: { file_name: 'say.py', content: `print("${private_}")` } },
      { name: 'Execute_Script', input: { script_name: 'say.py' } },
      { name: private_, input: {} },
    ],
  },
  // The first one is asked back.
  { repeat: true, tool_calls: [{ name: 'Final_Answer', input: { final_answer: private_ } }] },
];

function run(argv: readonly string[], variables: Record<string, string> = {}) {
  const options = { folder: bench.folder, variables: { MLAB_CACHE: bench.cache, ...variables } };
  return mlab(['--task-dir', fixtureTasks, ...argv], options);
}

const Line = z.looseObject({ time: z.iso.datetime(), level: z.string(), event: z.string(), pid: z.int() });
type Line = z.infer<typeof Line>;

function linesOf(text: string): Line[] {
  const lines = text.split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => Line.parse(JSON.parse(line)));
}

/** The lines of the log file, which is then removed. */
function loggedLines(): Line[] {
  const text = readFileSync(logFile, 'utf8');
  rmSync(logFile);
  expect(text).not.toContain(private_);
  const lines = linesOf(text);
  expect(text.trim().split('\n')).toHaveLength(lines.length);
  return lines;
}

describeInSandbox('the log of a command', () => {
  beforeAll(async () => {
    await bench.provision();
    writeFileSync(
      join(bench.folder, 'replies.jsonl'),
      script.map((one) => `${JSON.stringify(one)}\n`).join(''),
    );
  });

  test('reports runs, steps, model calls and retries at debug, and quotes no agent', async () => {
    const model = ['--agent', 'tools', '--model', 'scripted/replies.jsonl', '--name', 'told'];
    const { code, err } = await run(['run', '--task', 'sums', ...model], { MLAB_LOG: `debug:${logFile}` });
    expect(code, err).toBe(0);
    expect(linesOf(err)).toEqual([]);
    const lines = loggedLines();
    expect(lines.map(({ event }) => event)).toEqual([
      ...['run_started', 'model_retry', 'model_call', 'step_finished', 'step_finished'],
      ...['step_finished', 'model_call', 'model_call', 'step_finished', 'run_ended', 'run_graded'],
    ]);
    const told = { experiment: 'told', run: expect.stringMatching(/^sums-tools/) };
    expect(lines).toMatchObject([
      { ...told, level: 'info', task: 'sums', agent: 'tools', seed: 0 },
      { ...told, level: 'warn', model: 'scripted/replies.jsonl', failure: 'rate_limited' },
      { ...told, level: 'debug', role: 'agent', purpose: 'act', failed_tries: 1, call: 1 },
      { step: 1, action: 'Write File', status: 'ok' },
      { step: 2, action: 'Execute Script', status: 'ok', exit_code: 0, seconds: expect.any(Number) },
      { step: 3, action: null, status: 'invalid' },
      { call: 2, output_tokens: expect.any(Number), cost: null },
      { call: 3, step: null },
      { step: 4, action: 'Final Answer' },
      { ...told, level: 'info', status: 'finished', reason: 'final_answer', steps: 4, model_calls: 3 },
      { ...told, level: 'info', states: 1, final: true },
    ]);
  });

  test('reports no steps at info, goes to standard error if no file is named, and leaves results unchanged', async () => {
    const noop = ['run', '--task', 'sums', '--agent', 'noop', '--name', 'plain', '--json'];
    const { code, out, err } = await run(['--log-level', 'info', ...noop]);
    expect(code, err).toBe(0);
    expect(linesOf(err).map(({ event }) => event)).toEqual(['run_started', 'run_ended', 'run_graded']);
    expect(JSON.parse(out)).toMatchObject({ experiment: 'plain' });
    const again = await run(['run', '--task', 'sums', '--agent', 'noop', '--name', 'plain']);
    expect([again.code, linesOf(again.err)]).toEqual([0, []]);
  });

  test('says what kind of failure it was if a sandbox cannot start', async () => {
    const argv = ['run', '--task', 'sums', '--agent', 'noop', '--sandbox', 'docker', '--name', 'unconfined'];
    const variables = { MLAB_LOG: `error:${logFile}`, MLAB_DOCKER: '/no/such/engine' };
    expect((await run(argv, variables)).code).toBe(3);
    const [line, ...more] = loggedLines();
    expect(line).toMatchObject({ level: 'error', event: 'command_failed', error: 'sandbox' });
    expect(more).toEqual([]);
  });

  test.each(['loud', '/tmp/file', 'info:/no/such/folder/log'])(
    'refuses MLAB_LOG=%s before anything is done, and lists the valid values',
    async (setting) => {
      const { code, err } = await run(['run', '--task', 'sums', '--name', 'never'], { MLAB_LOG: setting });
      expect(code).toBe(2);
      expect(err).toContain('MLAB_LOG=info:runs.log');
      expect(existsSync(join(bench.folder, 'experiments/never'))).toBe(false);
    },
  );
});
