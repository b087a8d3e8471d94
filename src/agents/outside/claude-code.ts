import { claims } from './claims.ts';
import { asksWithoutTools, outsideAgent } from './outside-agent.ts';

/** Anthropic's Claude Code. Its licence is proprietary, so it is installed only when a user asks for it. */
export const claudeCode = outsideAgent('claude-code', "Anthropic's Claude Code (proprietary licence).", {
  package: { registry: 'npm', name: '@anthropic-ai/claude-code', version: '2.1.197' },
  licence: "its owner's: see README.md of its package",
  dialects: ['messages'],
  isSideCall: asksWithoutTools,
  claim: claims.streamJson,
  start: ({ bundle, interpreter, gateway, token, model, prompt, home }) => ({
    argv: [
      ...([interpreter, '-e', startNative, '--', bundle, '--print', '--verbose'] as const),
      ...['--output-format', 'stream-json', '--permission-mode', 'bypassPermissions'],
      ...['--disallowedTools', 'WebSearch,WebFetch', '--model', model, '--', prompt],
    ],
    variables: {
      ANTHROPIC_BASE_URL: gateway,
      ANTHROPIC_API_KEY: token,
      ANTHROPIC_MODEL: model,
      ANTHROPIC_DEFAULT_OPUS_MODEL: model,
      ANTHROPIC_DEFAULT_SONNET_MODEL: model,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: 'mlab-fast',
      CLAUDE_CODE_SUBAGENT_MODEL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1',
      CLAUDE_CONFIG_DIR: `${home}/.claude`,
      DISABLE_AUTOUPDATER: '1',
      IS_SANDBOX: '1',
    },
    files: {},
  }),
});

const startNative = `
const [bundle, ...rest] = process.argv.slice(1);
const { spawnSync } = require('node:child_process');
const program = \`\${bundle}/node_modules/@anthropic-ai/claude-code-linux-\${process.arch}/claude\`;
const { status, error } = spawnSync(program, rest, { stdio: ['ignore', 'inherit', 'inherit'] });
if (error) console.error(String(error));
process.exit(status ?? 1);
`;
