import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { agentByName } from '../../agents/index.ts';
import { ClaimsReader } from './claims.ts';

function claimsIn(agent: string, output: string | Uint8Array, pieces = 1) {
  const { program } = agentByName(agent);
  if (program === undefined) throw new Error(`${agent} is no program`);
  const reader = new ClaimsReader(program);
  const bytes = Buffer.from(output);
  const size = Math.max(1, Math.ceil(bytes.length / pieces));
  for (let from = 0; from < bytes.length; from += size) reader.add(bytes.subarray(from, from + size));
  return reader.claims;
}

const lines = (...events: unknown[]) => events.map((event) => `${JSON.stringify(event)}\n`).join('');
const task = { type: 'tool_use', id: '1', name: 'Task', input: { subagent_type: 'Explore', prompt: 'ü' } };

/** As programs of the tested versions print them, without irrelevant parts. */
const logs = {
  codex: [
    { type: 'thread.started', thread_id: '01a2' },
    { type: 'turn.completed', usage: { input_tokens: 500, cached_input_tokens: 0, output_tokens: 50 } },
    { type: 'turn.completed', usage: { input_tokens: 100, output_tokens: 10 } },
  ],
  opencode: [
    {
      type: 'tool_use',
      sessionID: 'ses_d',
      part: { tool: 'task', state: { input: { subagent_type: 'x' } } },
    },
    { type: 'step_finish', sessionID: 'ses_d', part: { tokens: { input: 100, output: 10 }, cost: 0.5 } },
    { type: 'step_finish', sessionID: 'ses_d', part: { tokens: { input: 100, output: 10 }, cost: 0.25 } },
  ],
  'claude-code': [
    { type: 'assistant', message: { content: [task] }, session_id: 'd412' },
    {
      ...{ type: 'result', session_id: 'd412', total_cost_usd: 0.00375 },
      usage: { input_tokens: 500, output_tokens: 50 },
    },
  ],
  'gemini-cli': [
    { type: 'init', session_id: 'g1', model: 'gpt-5' },
    { type: 'result', status: 'success', stats: { total_tokens: 550, input_tokens: 500 } },
  ],
  goose: [
    {
      type: 'message',
      message: {
        content: [
          {
            type: 'toolRequest',
            toolCall: { value: { name: 'delegate', arguments: { source: 'reviewer' } } },
          },
        ],
      },
    },
    { type: 'complete', total_tokens: 550, input_tokens: 500, output_tokens: 50, cost_usd: 0.001125 },
  ],
  openhands: [
    { kind: 'ActionEvent', tool_name: 'task', action: { subagent_type: 'general-purpose', prompt: 'x' } },
    { kind: 'ActionEvent', tool_name: 'terminal', action: { command: 'ls' } },
  ],
  'qwen-code': [{ type: 'result', session_id: '9d69', usage: { input_tokens: 500, output_tokens: 50 } }],
};

describe('what a program reports about itself in its log', () => {
  test.for([
    ['codex', { session: '01a2', cost: null, tokens: 660, subagents: [] }],
    ['opencode', { session: 'ses_d', cost: 0.75, tokens: 220, subagents: ['x'] }],
    ['claude-code', { session: 'd412', cost: 0.00375, tokens: 550, subagents: ['Explore'] }],
    ['gemini-cli', { session: 'g1', cost: null, tokens: 550, subagents: [] }],
    ['qwen-code', { session: '9d69', cost: null, tokens: 550, subagents: [] }],
    ['goose', { session: null, cost: 0.001125, tokens: 550, subagents: ['reviewer'] }],
    ['openhands', { session: null, cost: null, tokens: null, subagents: ['general-purpose'] }],
  ] as const)('%s', ([agent, claims]) => {
    const log = `Starting …\n${lines(...logs[agent])}{"type": "result"\n`;
    for (const pieces of [1, 5, log.length]) expect(claimsIn(agent, log, pieces)).toEqual(claims);
  });

  test('is bounded, and lines that are not claims are ignored', () => {
    const many = lines(...Array.from({ length: 300 }, () => logs['claude-code'][0]));
    expect(claimsIn('claude-code', many)?.subagents).toHaveLength(100);
    const long = lines({ ...logs.codex[0], filling: 'x'.repeat(2 ** 20) });
    expect(claimsIn('codex', `${long}${lines(logs.codex[1])}`)).toMatchObject({ session: null, tokens: 550 });
    const deep = `{"type":"thread.started","thread_id":${'['.repeat(100_000)}\n`;
    const hostile = lines(
      { type: 'turn.completed', usage: { input_tokens: -1, output_tokens: 1e308 } },
      null,
    );
    expect(claimsIn('codex', `${deep}${hostile}${hostile}`)).toMatchObject({ tokens: 1e308 });
    expect(claimsIn('aider', lines(...logs.codex))).toBeNull();
  });

  test('may be anything without causing an error', () => {
    const event = fc.record({
      type: fc.constantFrom('result', 'assistant', 'init'),
      message: fc.jsonValue(),
    });
    fc.assert(
      fc.property(fc.array(fc.oneof(event, fc.jsonValue())), fc.string(), (events, text) => {
        claimsIn('claude-code', `${lines(...events)}${text}\n`, 3);
      }),
      { numRuns: 100 },
    );
  });
});
