import { claims } from './claims.ts';
import { asksWithoutTools, baseUrls, outsideAgent } from './outside-agent.ts';
import type { ProgramPlace, ProgramStart } from './program.ts';

/** Qwen Code, which grew out of Gemini CLI. */
export const qwenCode = outsideAgent('qwen-code', "Alibaba's Qwen Code.", {
  package: { registry: 'npm', name: '@qwen-code/qwen-code', version: '0.24.4' },
  licence: 'Apache-2.0',
  dialects: ['chat_completions'],
  isSideCall: asksWithoutTools,
  claim: claims.streamJson,
  start: (place) => startQwen(place, ['--yolo', '--output-format', 'stream-json', '--prompt', place.prompt]),
  acp: (place) => {
    const start = startQwen(place, ['--acp', '--approval-mode', 'default']);
    // Two processes, each with a heap as large as the machine allows, would need more than a run may use.
    const variables = {
      ...start.variables,
      QWEN_CODE_NO_RELAUNCH: 'true',
      NODE_OPTIONS: '--max-old-space-size=700',
    };
    return { ...start, variables, authMethod: 'openai' };
  },
});

function startQwen(place: ProgramPlace, mode: readonly string[]): ProgramStart {
  const { bundle, interpreter, gateway, token, model } = place;
  return {
    argv: [
      ...([interpreter, `${bundle}/node_modules/@qwen-code/qwen-code/cli.js`] as const),
      ...['--auth-type', 'openai', '--model', model, ...mode],
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
        // Its memory is thrown away with its home.
        memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false },
        tools: { exclude: ['web_search', 'web_fetch'] },
      }),
    },
  };
}
