import type { DialectName } from '../../schema/index.ts';
import { claims } from './claims.ts';
import { asksWithoutTools, baseUrls, outsideAgent } from './outside-agent.ts';
import type { ProgramPlace, ProgramStart } from './program.ts';

/** The library that it uses for each dialect. */
const libraries: Partial<Record<DialectName, string>> = {
  chat_completions: '@ai-sdk/openai-compatible',
  responses: '@ai-sdk/openai',
  messages: '@ai-sdk/anthropic',
};

/** OpenCode, the terminal agent of SST. */
export const opencode = outsideAgent('opencode', 'OpenCode, an agent for any provider.', {
  package: { registry: 'npm', name: 'opencode-ai', version: '1.18.33' },
  licence: 'MIT',
  dialects: ['messages', 'responses', 'chat_completions'],
  isSideCall: asksWithoutTools,
  claim: claims.opencode,
  start: (place) => startOpencode(place, ['run', '--format=json', '--', place.prompt], 'allow'),
  session: {
    keep: ['.local/share/opencode/opencode.db', '.local/share/opencode/storage'],
    start: (place) =>
      startOpencode(place, ['run', '--continue', '--format=json', '--', place.prompt], 'allow'),
  },
  acp: (place) => startOpencode(place, ['acp'], 'ask'),
});

/** @param mayAct whether it acts directly, or asks for permission first */
function startOpencode(place: ProgramPlace, mode: readonly string[], mayAct: 'allow' | 'ask'): ProgramStart {
  const files = { '.config/opencode/opencode.json': JSON.stringify(configuration(place, mayAct)) };
  return {
    argv: [place.interpreter, '-e', startNative, '--', place.bundle, ...mode],
    variables: {
      MLAB_TOKEN: place.token,
      XDG_DATA_HOME: `${place.home}/.local/share`,
      XDG_STATE_HOME: `${place.home}/.local/state`,
      XDG_CONFIG_HOME: `${place.home}/.config`,
      XDG_CACHE_HOME: `${place.home}/.cache`,
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_FAKE_VCS: 'git',
    },
    files,
  };
}

/**
 * Its package contains a program for each processor architecture; its own set-up script would find out which one fits.
 */
const startNative = `
const [bundle, ...rest] = process.argv.slice(1);
const { existsSync, readFileSync } = require('node:fs');
const { spawnSync } = require('node:child_process');
const modern = process.arch !== 'x64' || /\\bavx2\\b/.test(readFileSync('/proc/cpuinfo', 'utf8'));
const names = [modern ? '' : '-baseline', '-baseline', ''].map((kind) => \`\${bundle}/node_modules/opencode-linux-\${process.arch}\${kind}/bin/opencode\`);
const program = names.find((name) => existsSync(name));
const { status, error } = spawnSync(program, rest, { stdio: 'inherit' });
if (error) console.error(String(error));
process.exit(status ?? 1);
`;

function configuration({ dialect, gateway, model }: ProgramPlace, mayAct: 'allow' | 'ask') {
  return {
    model: `mlab/${model}`,
    provider: {
      mlab: {
        npm: libraries[dialect],
        name: 'mlab',
        options: { baseURL: baseUrls(gateway).openai, apiKey: '{env:MLAB_TOKEN}' },
        models: { [model]: {} },
      },
    },
    small_model: `mlab/${model}`,
    permission: {
      edit: mayAct,
      bash: mayAct,
      websearch: 'deny',
      webfetch: 'deny',
      external_directory: 'allow',
    },
    share: 'disabled',
    autoupdate: false,
  };
}
