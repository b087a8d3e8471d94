import { claims } from './claims.ts';
import { asksWithoutTools, baseUrls, outsideAgent } from './outside-agent.ts';
import type { ProgramPlace, ProgramStart } from './program.ts';

/** Google's Gemini CLI. */
export const geminiCli = outsideAgent('gemini-cli', "Google's Gemini CLI.", {
  package: { registry: 'npm', name: '@google/gemini-cli', version: '0.61.0' },
  licence: 'Apache-2.0',
  dialects: ['generate_content'],
  isSideCall: asksWithoutTools,
  claim: claims.streamJson,
  start: (place) =>
    startGemini(place, ['--yolo', '--output-format', 'stream-json', '--prompt', place.prompt]),
  acp: (place) => ({ ...startGemini(place, ['--acp']), authMethod: 'gemini-api-key' }),
});

function startGemini(place: ProgramPlace, mode: readonly string[]): ProgramStart {
  const { bundle, interpreter, gateway, token, model } = place;
  return {
    argv: [
      ...([interpreter, `${bundle}/node_modules/@google/gemini-cli/bundle/gemini.js`] as const),
      ...['--model', model, ...mode],
    ],
    variables: {
      GEMINI_API_KEY: token,
      GOOGLE_GEMINI_BASE_URL: baseUrls(gateway).google,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
      GEMINI_CLI_NO_RELAUNCH: 'true',
      GEMINI_SANDBOX: 'false',
      NO_COLOR: '1',
    },
    files: {
      '.gemini/settings.json': JSON.stringify({
        // With only a base URL, it would choose a sign-in method that needs a person.
        security: { auth: { selectedType: 'gemini-api-key' } },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        general: { disableAutoUpdate: true, disableUpdateNag: true },
        tools: { exclude: ['google_web_search', 'web_fetch'] },
      }),
    },
  };
}
