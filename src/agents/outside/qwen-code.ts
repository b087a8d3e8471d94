import { asksWithoutTools, baseUrls, outsideAgent } from './outside-agent.ts';

/** Qwen Code, which grew out of Gemini CLI. */
export const qwenCode = outsideAgent('qwen-code', "Alibaba's Qwen Code.", {
  package: { registry: 'npm', name: '@qwen-code/qwen-code', version: '0.24.4' },
  licence: 'Apache-2.0',
  dialects: ['chat_completions'],
  isSideCall: asksWithoutTools,
  start: ({ bundle, interpreter, gateway, token, model, prompt }) => ({
    argv: [
      ...([interpreter, `${bundle}/node_modules/@qwen-code/qwen-code/cli.js`, '--yolo'] as const),
      ...['--auth-type', 'openai', '--model', model, '--prompt', prompt],
    ],
    variables: {
      OPENAI_API_KEY: token,
      OPENAI_BASE_URL: baseUrls(gateway).openai,
      OPENAI_MODEL: model,
      QWEN_SANDBOX: 'false',
      NO_COLOR: '1',
    },
    files: {
      '.qwen/settings.json': JSON.stringify({
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        general: { disableAutoUpdate: true, disableUpdateNag: true },
        tools: { exclude: ['web_search', 'web_fetch'] },
      }),
    },
  }),
});
