import { describe, expect, test } from 'vitest';
import type { RawReply } from '../../../test/fakes/providers/index.ts';
import { postTo, testedProxy } from '../../../test/fixtures/proxy-place.ts';

const chat = '/v1/chat/completions';
const google = '/v1beta/models/x:generateContent';
const hello = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hello?' }] };
const answers = (): RawReply => ({
  headers: { 'content-type': 'application/json' },
  pieces: ['{"choices":[]}'],
});

describe('the output that is reserved for a request', () => {
  test.each([
    [{}, 32_000],
    [{ max_tokens: null }, 32_000],
    // Local servers understand it as no limit.
    [{ max_tokens: -1 }, 32_000],
    [{ max_tokens: 1e30 }, 1e9],
    [{ max_tokens: 900, max_completion_tokens: 1 }, 900],
    [{ max_tokens: 1, n_predict: 900 }, 900],
    [{ max_tokens: 1, max_completion_tokens: -1 }, 32_000],
    [{ max_tokens: 10, n: 3 }, 30],
    [{ n: 3 }, 96_000],
  ])('is the most that it asks for: %j', async (asked, most) => {
    const { url, records } = await testedProxy(answers, { proxy: { severalAnswers: true } });
    await (await postTo(url, chat, { ...hello, ...asked })).text();
    expect(records).toMatchObject([{ settings: { max_output_tokens: most } }]);
  });

  test.each([
    ['openai/gpt-4o', chat, { max_tokens: 0 }, 'max_tokens is a whole number of tokens from 1.'],
    ['openai/gpt-4o', chat, { max_completion_tokens: 1.5 }, 'max_completion_tokens is'],
    ['openai/gpt-4o', chat, { max_tokens: '60000' }, 'max_tokens is'],
    ['openai/gpt-4o', chat, { n: 0.5 }, 'n is a whole number'],
    ['openai/gpt-4o', chat, { n: 2 }, "n can't be more than 1 in a run"],
    ['google/gemini-2.5-pro', google, { generationConfig: { candidateCount: 2 } }, 'candidateCount can'],
    ['openai/gpt-4o', '/v1/responses', { max_output_tokens: -2 }, 'max_output_tokens is'],
    ['anthropic/claude-opus-4-5', '/v1/messages', { max_tokens: [9] }, 'max_tokens is'],
    ['google/gemini-2.5-pro', google, { generationConfig: { maxOutputTokens: '9' } }, 'maxOutputTokens is'],
    ['google/gemini-2.5-pro', google, { generation_config: { candidate_count: '9' } }, 'candidateCount is'],
    [
      'google/gemini-2.5-pro',
      google,
      { generation_config: { max_output_tokens: 9, maxOutputTokens: 1 } },
      'differ only in their spelling',
    ],
    ['google/gemini-2.5-pro', google, { generation_config: {}, generationConfig: {} }, 'spelling'],
  ])("is refused if it can't be reserved: %s %s %j", async (model, path, asked, message) => {
    const { url, server } = await testedProxy(answers, { model });
    const reply = await postTo(url, path, { ...asked });
    expect([reply.status, server.requests.length]).toEqual([400, 0]);
    expect(await reply.json()).toMatchObject({ error: { message: expect.stringContaining(message) } });
  });
});
