import { dialectOf } from '../../../src/models/gateway/dialects/index.ts';
import { ReplyTap } from '../../../src/models/gateway/reply-tap.ts';
import { AgentFailed, AgentProcess } from '../../../src/runs/agents/agent-process.ts';
import type { ProcessEnd, Sandbox } from '../../../src/sandbox/index.ts';
import { defineTarget } from '../engine/target.ts';
import { hold } from './containers.ts';

const ended: ProcessEnd = {
  ...{ ending: 'exited', exitCode: 0, signal: null, durationMs: 1, peakMemoryBytes: null, cpuSeconds: null },
};
const step = '{"jsonrpc":"2.0","id":1,"method":"step","params":{"action":{"name":"a","args":{}}}}\n';

export const agentLinesTarget = defineTarget({
  name: 'agent-lines',
  reads: 'what an agent in Python writes: JSON-RPC, a message a line',
  seeds: [
    step,
    `[${step.trim()},${step.trim()}]\nprinted\n{"jsonrpc":"2.0","id":1,"result":null}\n`,
    '{"jsonrpc":"2.0","method":"note","params":{"entries":{"a":"b"}}}\n{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"a"}}\n',
  ],
  words: [
    '"jsonrpc":"2.0"',
    '"id":',
    '"method":',
    '"params":',
    '"result":',
    '"error":',
    '"log"',
    'null',
    '\n',
  ],
  batch: 16,
  open: () => ({
    async run(input) {
      let written = 0;
      const sandbox = {
        start: async (_: unknown, { onOutput }: { onOutput: (chunk: Buffer) => void }) => {
          for (let at = 0; at < input.length; at += 700) onOutput(input.subarray(at, at + 700));
          const write = (text: string) => {
            written += text.length;
          };
          return { write, unreadBytes: 0, kill: async () => ended, ended: Promise.resolve(ended) };
        },
      };
      await using process = await AgentProcess.start(sandbox as unknown as Sandbox, ['python']);
      const answer = async (requests: readonly unknown[]) => requests.map(() => ({ result: null }));
      const talk = { answer, notified: () => {} };
      try {
        await process.request('run', {}, talk, new AbortController().signal);
      } catch (error) {
        if (!(error instanceof AgentFailed)) throw error;
        hold(error.message.length < 40_000, 'a failure is told in a few words');
      }
      hold(written < 10_000 + 10 * input.length, 'answers are as long as what is asked');
    },
  }),
});

const dialects = [
  ...['/chat/completions', '/responses', '/messages'].map((path) => dialectOf(path, {})),
  dialectOf('', { 'x-goog-api-key': 'x' }),
];

export const passedReplyTarget = defineTarget({
  name: 'passed-reply',
  reads: 'replies of providers that the gateway passes on, as events and in one piece',
  seeds: [
    'data: {"choices":[{"index":0,"delta":{"content":"a","tool_calls":[{"index":0,"id":"b","function":{"name":"c","arguments":"{}"}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\ndata: [DONE]\n\n',
    'event: response.completed\ndata: {"type":"response.completed","response":{"output":[{"type":"message","content":[{"type":"output_text","text":"a"}]}],"usage":{"input_tokens":1,"output_tokens":2}}}\n\n',
    'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"b","input":{}}}\n\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{"}}\n\n',
    'data: {"candidates":[{"content":{"parts":[{"text":"a"},{"functionCall":{"name":"b","args":{}}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1}}\r\n\r\n',
  ],
  words: [
    'data: ',
    'event: ',
    '\n\n',
    '\r\n',
    '"index":',
    '1e9',
    '-1',
    'null',
    '"usage":',
    '"delta":',
    '"type":',
    '"output"',
  ],
  batch: 32,
  open: () => ({
    run(input) {
      for (const dialect of dialects) {
        for (const isStream of [true, false]) {
          const tap = new ReplyTap(dialect.createReader(), isStream);
          for (let at = 0; at < input.length; at += 300) tap.add(input.subarray(at, at + 300));
          const { answer } = tap.end();
          const length = JSON.stringify(answer).length;
          hold(length < 10_000 + 20 * input.length, 'an answer is as long as the reply');
        }
      }
    },
  }),
});
