import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it, test, vi } from 'vitest';
import { FakeEnvironment } from '../../../test/fakes/fake-environment.ts';
import { describedActions } from '../../../test/fixtures/described-actions.ts';
import {
  actionsOf,
  answered,
  anyReply,
  inTurn,
  runInMemory,
  transcriptOf,
} from '../../../test/fixtures/model-agents.ts';
import type { ModelRequest } from '../../schema/index.ts';
import { langchain, langchainAgent } from './langchain.ts';

function isInstalled(): boolean {
  try {
    return createRequire(import.meta.url).resolve('@langchain/classic/agents') !== '';
  } catch {
    return false;
  }
}

const withPackages = describe.skipIf(!isInstalled());
const why = isInstalled() ? '' : ' (skipped: @langchain/classic is not installed)';

function reply(action: string, args: Record<string, unknown>, thought = 'so'): string {
  return `Thought: ${thought}\nAction: ${action}\nAction Input: ${JSON.stringify(args)}`;
}

const execute = () => ({ output: '', exitCode: 0, seconds: 1 });
const look = reply('List Files', { dir_path: '.' });
const finish = 'Thought: nothing more to do\nFinal Answer: done';
const textOf = (request: ModelRequest | undefined) =>
  request?.messages.map(({ text }) => text).join('\n') ?? '';

withPackages(`the langchain agent${why}`, () => {
  afterEach(() => vi.unstubAllEnvs());

  it('executes the actions of the model through LangChain and the environment', async () => {
    const environment = await runInMemory(
      langchain,
      inTurn(
        look,
        reply('Write File', { file_name: 'train.py', content: 'lr = {1}\n' }, 'I {write}'),
        'Thought: run\nAction: execute script\nAction Input:\n```json\n{\n  "script_name": "train.py"\n}\n```',
        finish,
      ),
    );
    expect(actionsOf(environment)).toEqual([
      ['List Files', '.'],
      ['Write File', 'train.py', 'lr = {1}\n'],
      ['Execute Script', 'train.py'],
      ['Final Answer', 'done'],
    ]);
    expect(environment.notes).toContainEqual({ Thought: 'I {write}' });
    const last = environment.asked[3];
    expect(last).toMatchObject({ role: 'agent', stop: ['\nObservation:'] });
    expect(last?.messages.map(({ role }) => role)).toEqual(['system', 'user']);
    expect(last?.messages[0]).toEqual(environment.asked[0]?.messages[0]);
    expect(last?.messages[0]).toMatchObject({
      stable: true,
      text: expect.stringContaining('Make it better.'),
    });
    expect(last?.messages[1]?.text).toMatch(
      /Action: List Files[\s\S]*Observation: submission\.csv\ntrain\.py[\s\S]*Remaining budget: 49 steps[\s\S]*Observation: MAE: 3\.5/,
    );
    expect([environment.late, environment.givenUp]).toEqual([0, null]);
  });

  it('accepts a final answer in either form, but not inside an input', async () => {
    for (const end of [finish, reply('Final Answer', { final_answer: 'done' })])
      expect((await runInMemory(langchain, inTurn(look, end))).finalAnswer).toBe('done');
    const content = '# x\nFinal Answer: 42\n';
    const environment = await runInMemory(
      langchain,
      inTurn(look, reply('Write File', { file_name: 'a', content }), finish),
    );
    expect(environment.files.get('a')).toBe(content);
  });

  it('shows the model what was wrong with a reply, and gives up in the end', async () => {
    const environment = await runInMemory(langchain, inTurn(look, 'Hm.', reply('Read File', {}), finish));
    expect(textOf(environment.asked[2])).toMatch(/Hm\.\s+Observation: Your reply names no action/);
    expect(textOf(environment.asked[3])).toContain('lacks "file_name"');
    expect(environment.taken).toHaveLength(2);
    const stuck = await runInMemory(langchain, inTurn(look, 'Hm.'), { options: { invalid_replies: 3 } });
    expect(stuck.asked).toHaveLength(4);
    expect(stuck.givenUp).toEqual({
      reason: 'reply_format',
      message: 'No action could be read from 3 replies in a row.',
    });
  });

  it('does not execute a reply that was cut off', async () => {
    const cut = answered({ text: reply('Write File', { file_name: 'a', content: 'b' }), finish: 'length' });
    const environment = await runInMemory(langchain, inTurn(look, cut, finish));
    expect(environment.files.has('a')).toBe(false);
    expect(textOf(environment.asked[2])).toContain('cut off at its length limit');
  });

  it('leaves out the oldest steps until the model can read the rest', async () => {
    const environment = await runInMemory(
      langchain,
      (request, count) => {
        if (textOf(request).length > 9000) return { kind: 'context_too_long', message: 'too long' };
        return count < 12 ? reply('Read File', { file_name: 'train.py' }) : finish;
      },
      { files: { 'train.py': 'x'.repeat(1000), 'submission.csv': '' } },
    );
    expect(environment.finalAnswer).toBe('done');
    expect(textOf(environment.asked.at(-1))).toMatch(/\(\d+ earlier steps are omitted\)/);
    const never = await runInMemory(
      langchain,
      inTurn(look, { kind: 'context_too_long', message: 'too long' }),
    );
    expect(never.givenUp).toEqual({ reason: 'context_limit', message: 'too long' });
    expect(never.asked.length).toBeLessThan(12);
  });

  it('ends after a refusal, after the end of the run, and at the last step', async () => {
    const refused = await runInMemory(langchain, inTurn({ kind: 'refused', message: 'not this' }));
    expect(refused.givenUp).toEqual({ reason: 'refused', message: 'not this' });
    const closed = await runInMemory(langchain, inTurn(look, { kind: 'closed', message: 'over' }));
    expect([closed.givenUp, closed.taken.length]).toEqual([null, 1]);
    const used = await runInMemory(langchain, inTurn(look), { steps: 30 });
    expect([used.taken.length, used.late]).toEqual([30, 0]);
  });

  it('passes on errors of the environment instead of turning them into observations', async () => {
    for (const broken of ['ask', 'step'] as const) {
      const running = new FakeEnvironment({
        files: {},
        execute,
        actions: describedActions,
        answer: () => look,
      });
      const fails = () => Promise.reject(new Error(`no more ${broken}`));
      if (broken === 'ask') running.ask = fails;
      else running.step = fails;
      const run = langchain.run({ environment: running, seed: 0, options: {}, reference: null });
      await expect(run).rejects.toThrow(`no more ${broken}`);
    }
  });

  it('makes exactly the same requests when it is run again with the same replies', async () => {
    const replies = [look, 'what?', look, reply('Fly', {}), look].map((text) => answered({ text }));
    const first = await transcriptOf(langchain, replies);
    expect(first.length).toBeGreaterThan(10);
    expect(await transcriptOf(langchain, replies)).toEqual(first);
  });

  it("sends nothing to servers, and makes the same requests, whatever LangChain's variables say", async () => {
    const replies = [look, 'what?', look].map((text) => answered({ text }));
    const plain = await transcriptOf(langchain, replies);
    const seen: string[] = [];
    const server = createServer((request, response) => {
      seen.push(`${request.method} ${request.url}`);
      response.end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    for (const prefix of ['LANGSMITH', 'LANGCHAIN']) {
      vi.stubEnv(`${prefix}_TRACING`, 'true');
      vi.stubEnv(`${prefix}_TRACING_V2`, 'true');
      vi.stubEnv(`${prefix}_ENDPOINT`, `http://127.0.0.1:${port}`);
      vi.stubEnv(`${prefix}_API_KEY`, 'a-key');
    }
    vi.stubEnv('LC_OUTPUT_VERSION', 'v1');
    expect(await transcriptOf(langchain, replies)).toEqual(plain);
    const { awaitAllCallbacks } = await import('@langchain/core/callbacks/promises');
    await awaitAllCallbacks();
    expect(seen).toEqual([]);
    // Without our handler, the same variables do make LangChain send requests to the server.
    const { RunnableLambda } = await import('@langchain/core/runnables');
    await RunnableLambda.from(() => 'traced').invoke('x');
    await awaitAllCallbacks();
    await vi.waitFor(() => expect(seen).not.toEqual([]), { timeout: 10_000 });
    server.closeAllConnections();
    server.close();
  });

  it('ends within its limits and never throws, whatever the model says', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyReply, { minLength: 1, maxLength: 12 }), async (replies) => {
        const environment = await runInMemory(
          langchain,
          (_, count) => replies[(count - 1) % replies.length],
          {
            steps: 8,
          },
        );
        expect(environment.late).toBe(0);
        expect(environment.asked.length).toBeLessThan(200);
      }),
      { numRuns: 100 },
    );
  });
});

describe('without its packages', () => {
  it('the agent says what to install, and passes on errors of other kinds', async () => {
    const lost = langchainAgent(() =>
      Promise.reject(new Error("Cannot find package '@langchain/classic' imported from x")),
    );
    await expect(runInMemory(lost, inTurn(look))).rejects.toMatchObject({
      name: 'UserError',
      message: 'the agent "langchain" needs the package @langchain/classic, which is not installed',
      hint: expect.stringContaining('npm install @langchain/core@^1.4.0 @langchain/classic@^1.0.43'),
    });
    const broken = langchainAgent(() => Promise.reject(new Error("Cannot find package 'zod'")));
    await expect(runInMemory(broken, inTurn(look))).rejects.toThrow("Cannot find package 'zod'");
  });

  test('all other agents work, because the packages are loaded only when the agent runs', () => {
    const script = join(import.meta.dirname, '../../../test/fixtures/without-langchain.ts');
    const { stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toMatchObject({
      message: expect.stringMatching(/needs the package @langchain\/\w+,/),
    });
  });
});
