import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { UserError } from '../lib/errors.ts';
import type { ModelRequest, ModelRole } from '../schema/index.ts';
import { type CallEstimate, ModelUnavailable } from './language-models.ts';
import { parseReply, readScript, ScriptPosition } from './script.ts';
import { ScriptedModels } from './scripted.ts';

const signal = new AbortController().signal;

function request(text: string, role: ModelRole = 'agent'): ModelRequest {
  return { role, purpose: 'test', messages: [{ role: 'user', text }] };
}

async function texts(models: ScriptedModels, requests: ModelRequest[]): Promise<string[]> {
  const given: string[] = [];
  for (const asked of requests) {
    const { answer } = await models.ask(asked, { signal });
    given.push(answer.kind === 'answered' ? answer.text : `${answer.kind}: ${answer.message}`);
  }
  return given;
}

describe('scripted models', () => {
  test('give their replies in order, and record their requests', async () => {
    const models = new ScriptedModels(['one', { text: 'two' }]);
    expect(await texts(models, [request('a'), request('b')])).toEqual(['one', 'two']);
    expect(models.requests.map(({ messages }) => messages[0]?.text)).toEqual(['a', 'b']);
  });

  test('keep replies of other roles, and those whose text does not occur, for later', async () => {
    const models = new ScriptedModels([
      { role: 'fast', text: 'short' },
      { match: 'train.py', text: 'about training' },
      { text: 'other' },
    ]);
    const asked = [request('hello'), request('what does train.py do?'), request('summarise', 'fast')];
    expect(await texts(models, asked)).toEqual(['other', 'about training', 'short']);
  });

  test('can repeat a reply, refuse, and find the conversation too long', async () => {
    const models = new ScriptedModels([
      { refused: 'not this' },
      { context_too_long: '9 > 8' },
      { text: 'again', repeat: true },
    ]);
    expect(await texts(models, [request('a'), request('b'), request('c'), request('d')])).toEqual([
      'refused: not this',
      'context_too_long: 9 > 8',
      'again',
      'again',
    ]);
  });

  test('answer with tool calls, usage and cost', async () => {
    const price = { input: 2, output: 10, date: '2026-01-01', source: 'test' };
    const models = new ScriptedModels(
      [{ tool_calls: [{ name: 'ls', input: { path: '.' } }], usage: { input: 1000, output: 100 } }],
      { price },
    );
    const call = await models.ask(request('list'), { signal });
    expect(call).toEqual({
      answer: {
        kind: 'answered',
        text: '',
        finish: 'tool_calls',
        tool_calls: [{ id: 'scripted/script#1-1', name: 'ls', input: { path: '.' } }],
      },
      answeredBy: 'scripted/script#1',
      usage: { input: 1000, cached_input: 0, cache_write: 0, output: 100, reasoning: 0, source: 'provider' },
      cost: 0.003,
      latencyMs: 0,
      waitingMs: 0,
      attempts: [],
    });
  });

  test('estimate the usage if the script does not give it', async () => {
    const { usage } = await new ScriptedModels(['abcdef']).ask(request('abc'), { signal });
    expect(usage).toMatchObject({ input: 1, output: 2, source: 'estimate' });
  });

  test('retry transient failures at once, in simulated time', async () => {
    const models = new ScriptedModels([
      { fails: { failure: 'rate_limited', retry_after_seconds: 90 } },
      { fails: { failure: 'overloaded' } },
      'at last',
    ]);
    const retried: string[] = [];
    const call = await models.ask(request('a'), { signal, onRetry: ({ failure }) => retried.push(failure) });
    expect(retried).toEqual(['rate_limited', 'overloaded']);
    expect(call.attempts.map(({ waited_ms }) => waited_ms)).toEqual([90_000, 1000]);
    expect(call.waitingMs).toBeGreaterThanOrEqual(91_000);
  });

  test('end with the failure if it is permanent', async () => {
    const models = new ScriptedModels([{ fails: { failure: 'quota_exhausted' } }, 'never']);
    const error = await models.ask(request('a'), { signal }).catch((thrown: unknown) => thrown);
    expect(ModelUnavailable.isInstance(error) && error.failure).toBe('quota_exhausted');
  });

  test('are asked again after an empty answer only as long as all attempts fit into the reservation', async () => {
    const usage = { input: 100, output: 0 };
    const script = [{ text: '', usage }, { text: '', usage }, 'never'];
    for (const [tokens, asked] of [
      [2199, 1],
      [2200, 2],
      [2299, 2],
      [2300, 3],
    ] as const) {
      const models = new ScriptedModels(script);
      const reserve = (most: CallEstimate) => most.tokens <= tokens;
      const { attempts } = await models.ask(request('a'), { signal, reserve });
      expect(attempts.length + 1, `${tokens} tokens`).toBe(asked);
    }
    const price = { input: 10, output: 0, date: '2026-01-01', source: 'test' };
    const models = new ScriptedModels(script, { price });
    const { usage: used, cost } = await models.ask(request('a'), {
      signal,
      reserve: ({ money }) => money !== null && money <= 0.0025,
    });
    expect([used.input, cost]).toEqual([200, 0.002]);
  });

  test('report the request when the script has no more replies', async () => {
    const models = new ScriptedModels(['one']);
    await models.ask(request('a'), { signal });
    await expect(models.ask(request('b'), { signal })).rejects.toThrow(
      /no reply left for request 2 \(role agent: test\); 1 of its 1 replies are used/,
    );
  });

  test('count the requests of earlier sessions of the run, too', () => {
    const script = { name: 'scripted/x', replies: [parseReply('one', 'Reply 1')] };
    const resumed = new ScriptPosition(script, ['scripted/x#1']);
    expect(() => resumed.next(request('b'))).toThrow(/no reply left for request 2 /);
  });

  test('can be a function of the request', async () => {
    const models = new ScriptedModels(({ messages }, index) => `${index}: ${messages[0]?.text}`);
    expect(await texts(models, [request('a'), request('b')])).toEqual(['0: a', '1: b']);
  });

  test('refuse an entry that gives no reply, or two', () => {
    expect(() => new ScriptedModels([{}])).toThrow(/give one of/);
    expect(() => new ScriptedModels([{ text: 'a', refused: 'b' }])).toThrow(/give one of/);
  });
});

describe('a script file', () => {
  const replies = [{ text: 'one' }, { role: 'fast', text: 'two' }];

  test('is read as a YAML list and as JSON lines', () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'a.yaml'), '- one\n- role: fast\n  text: two\n');
    writeFileSync(join(folder, 'a.jsonl'), '{"text":"one"}\n\n{"role":"fast","text":"two"}\n');
    expect(readScript('scripted/a', join(folder, 'a.yaml')).replies).toEqual(replies);
    expect(readScript('scripted/a', join(folder, 'a.jsonl')).replies).toEqual(replies);
  });

  test.each([
    ['missing.yaml', null, /can't be read/],
    ['map.yaml', 'text: one', /holds no list/],
    ['broken.yaml', '- "one', /is not a script of a model/],
    ['broken.jsonl', '{"text":"one"}\n{', /line 2/],
    ['wrong.yaml', '- text: one\n- txt: two', /entry 2.*txt/],
  ])('%s is refused with the place and the reason', (file, content, message) => {
    const path = join(temporaryFolder(), file);
    if (content !== null) writeFileSync(path, content);
    const read = () => readScript('scripted/x', path);
    expect(read).toThrow(message);
    expect(read).toThrow(UserError);
  });

  test('continues after what earlier sessions were answered, and after failures before that', () => {
    const script = {
      name: 'scripted/x',
      replies: [
        { fails: { failure: 'overloaded' as const } },
        { text: 'one' },
        { role: 'fast' as const, text: 'two' },
        { text: 'three' },
      ],
    };
    const position = new ScriptPosition(script, ['scripted/x#2', null, 'another#1']);
    expect(position.next(request('a')).answeredBy).toBe('scripted/x#4');
    expect(position.next(request('a', 'fast')).answeredBy).toBe('scripted/x#3');
  });
});
