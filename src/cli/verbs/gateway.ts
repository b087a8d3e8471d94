import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { hasCode, UserError } from '../../lib/errors.ts';
import {
  type CallRecord,
  ModelRegistry,
  modelVariables,
  type ProxyOptions,
  type ProxyRequest,
  ProxyServer,
  Quota,
  roleSettings,
  withModelsOf,
} from '../../models/index.ts';
import type { DialectName } from '../../schema/index.ts';
import { experimentFlags, readExperiment } from '../experiment-flags.ts';
import { portNumber } from '../flag-numbers.ts';
import { CallFile } from '../gateway-calls.ts';
import { dollars, duration, number, oneLine } from '../table.ts';
import type { Verb } from '../verb.ts';

interface Options {
  file?: string;
  port?: number;
  record?: string;
  serverTools?: boolean;
}

/** The default port: always the same, so that settings of programs keep working. */
const usualPort = 7430;
const tokenVariable = 'MLAB_GATEWAY_TOKEN';

/** The flags of `mlab run` that name the models, their addresses and limits. */
const sharedFlags = ['--model', '--fast-model', '--base-url', '--tokens', '--money'];

export const gateway: Verb = {
  arguments: [],
  flags: [
    {
      flags: '--port <n>',
      description: `port to listen on (default: ${usualPort}; 0: any free port)`,
      parse: portNumber,
    },
    { flags: '--record <file>', description: 'append every call to this file as a line of JSON' },
    {
      flags: '--server-tools',
      description: 'allow tools that the provider runs itself, such as web search',
    },
    { flags: '--file <experiment>', description: 'experiment file with models, providers and prices' },
    ...experimentFlags().filter(({ flags }) => sharedFlags.includes(flags.split(' ')[0] ?? '')),
  ],
  details:
    "Programs speak the dialect of the model's provider: Anthropic's Messages, OpenAI's Chat Completions and Responses, Google's\n" +
    'generateContent. Requests and replies pass through unchanged, except that every request goes to the model given here,\n' +
    'whatever model it names. Programs need no key of the provider: their key is the token that is printed, or the one in\n' +
    `${tokenVariable}. Limits are checked before a request is sent. The gateway accepts connections from this machine only.\n` +
    'Ctrl-C ends it and prints what was used.',
  examples: [
    [
      'mlab gateway --model anthropic/claude-sonnet-4-5 --money 5',
      'Claude Code or any other program, for at most $5',
    ],
    [
      'mlab gateway --model openai/gpt-5.4 --fast-model openai/gpt-5-mini',
      'requests for a small model go to another model',
    ],
    [
      'mlab gateway --model openai-compatible/llama3.2 --base-url http://localhost:11434/v1',
      'in front of a local server',
    ],
    ['mlab gateway --model openai/gpt-5.4 --record calls.jsonl', 'record requests and replies'],
  ],
  async run({ settings: usual, variables, signal, log }, _, options: Options) {
    const experiment = withModelsOf(
      variables,
      readExperiment(options.file, options, { prices: usual.run.prices }),
    );
    const roles = roleSettings(experiment.models[0] ?? null, experiment.roles);
    if (roles === null)
      throw new UserError('no_model', 'No model is given.', `Use --model or ${modelVariables.agent}.`);
    const { providers, prices } = experiment;
    const registry = new ModelRegistry({ providers, prices, variables, folder: resolve('.') });
    const { tokens, money } = experiment.limits ?? {};
    if (money !== undefined) registry.checkPrices(roles);
    const upstream = registry.upstream(roles);
    const quota = new Quota({ of: 'this gateway', tokens, money });
    const token = variables[tokenVariable]?.trim() || randomBytes(18).toString('base64url');
    const file = options.record === undefined ? null : new CallFile(resolve(options.record));
    const server = await listen(options.port ?? usualPort, {
      ...{ upstream, quota, token, signal },
      ...{ serverTools: options.serverTools ?? false, severalAnswers: true, connections: 1024 },
      onRefused: ({ message }) => log(`Refused: ${message}`),
      record: (call, request) => {
        file?.add(call, request);
        log(callLine(call, request));
      },
    });
    const url = `http://127.0.0.1:${server.port}`;
    return {
      text: [
        `The gateway is at ${url}`,
        `Token: ${token}`,
        '',
        ...settings(upstream.dialects, url, token),
        '',
        'Stop it with Ctrl-C.',
      ].join('\n'),
      json: { url, port: server.port, token, dialects: upstream.dialects, models: upstream.names },
      stay: async () => {
        if (!signal.aborted) await once(signal, 'abort');
        await server[Symbol.asyncDispose]();
        file?.close();
        log(`Used: ${number(quota.spent.tokens)} tokens, ${dollars(quota.spent.money)}.`);
      },
    };
  },
};

async function listen(port: number, options: ProxyOptions): Promise<ProxyServer> {
  try {
    return await ProxyServer.listen({ port }, options);
  } catch (error) {
    if (!hasCode(error, 'EADDRINUSE')) throw error;
    throw new UserError(
      'port_taken',
      `Port ${port} is in use.`,
      'Choose another one with --port, or 0 for any free port.',
    );
  }
}

/** Settings for programs, as most of them read them from their environment. */
function settings(dialects: readonly DialectName[], url: string, token: string): string[] {
  const variables = {
    messages: [`ANTHROPIC_BASE_URL=${url}`, `ANTHROPIC_API_KEY=${token}`],
    chat_completions: [`OPENAI_BASE_URL=${url}/v1`, `OPENAI_API_KEY=${token}`],
    responses: [`OPENAI_BASE_URL=${url}/v1`, `OPENAI_API_KEY=${token}`],
    generate_content: [`GOOGLE_GEMINI_BASE_URL=${url}`, `GEMINI_API_KEY=${token}`],
  };
  return [...new Set(dialects.flatMap((dialect) => variables[dialect]))].map((line) => `export ${line}`);
}

function callLine(
  { usage, cost, latencyMs, failure }: CallRecord,
  { number: call, asked, model }: ProxyRequest,
): string {
  const named = asked === null ? '' : ` for ${oneLine(asked, 80)}`;
  const used = `${number(usage.input)} read, ${number(usage.output)} written, ${dollars(cost)}`;
  const how = failure === null ? used : `${failure.failure}: ${oneLine(failure.message, 80)}; ${used}`;
  return `${call}. ${model}${named}: ${how}, ${duration(latencyMs / 1000)}`;
}
