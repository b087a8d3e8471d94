import { codexConfiguration } from './codex.ts';
import { asksWithoutTools, outsideAgent } from './outside-agent.ts';

/** OpenAI's Codex behind the adapter from the Agent Client Protocol project. */
export const codexAcp = outsideAgent(
  'codex-acp',
  "OpenAI's Codex, prompted through the Agent Client Protocol.",
  {
    package: { registry: 'npm', name: '@agentclientprotocol/codex-acp', version: '2.6.0' },
    licence: 'Apache-2.0',
    dialects: ['responses'],
    isSideCall: asksWithoutTools,
    acp: ({ bundle, interpreter, gateway, token, model, home }) => ({
      argv: [interpreter, `${bundle}/node_modules/@agentclientprotocol/codex-acp/dist/index.js`],
      variables: {
        CODEX_HOME: `${home}/.codex`,
        MLAB_TOKEN: token,
        OPENAI_API_KEY: token,
        NO_BROWSER: '1',
        // Its own sandbox can't be created inside ours. In this mode it does not ask for permissions.
        INITIAL_AGENT_MODE: 'agent-full-access',
      },
      files: { '.codex/config.toml': `model = "${model}"\n${codexConfiguration(gateway, '')}` },
      authMethod: 'api-key',
    }),
  },
);
