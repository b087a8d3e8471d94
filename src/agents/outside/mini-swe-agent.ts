import { baseUrls, outsideAgent } from './outside-agent.ts';

/** The short loop of the SWE-agent project: one tool, bash. */
export const miniSweAgent = outsideAgent(
  'mini-swe-agent',
  "The SWE-agent project's short loop around bash.",
  {
    package: {
      registry: 'pypi',
      name: 'mini-swe-agent',
      version: '2.4.6',
      beside: ['litellm==1.106.2', 'mcp==2.3.0', 'fastapi==0.165.0', 'orjson==3.13.0'],
    },
    licence: 'MIT',
    dialects: ['chat_completions', 'messages'],
    start: ({ bundle, interpreter, gateway, token, dialect, model, prompt, home }) => {
      const base = dialect === 'messages' ? baseUrls(gateway).anthropic : baseUrls(gateway).openai;
      const provider = dialect === 'messages' ? 'anthropic' : 'openai';
      return {
        argv: [
          ...([interpreter, '-I', `${bundle}/bin/mini`, '--yolo', '--exit-immediately'] as const),
          ...['--model', `${provider}/${model}`, '--task', prompt, '--output', `${home}/trajectory.json`],
          ...['-c', 'mini', '-c', `model.model_kwargs.api_base=${base}`],
          ...['-c', 'model.model_kwargs.timeout=3600'],
        ],
        variables: {
          OPENAI_API_KEY: token,
          ANTHROPIC_API_KEY: token,
          MSWEA_CONFIGURED: 'true',
          MSWEA_COST_TRACKING: 'ignore_errors',
          MSWEA_GLOBAL_CONFIG_DIR: `${home}/.config/mini-swe-agent`,
          LITELLM_LOCAL_MODEL_COST_MAP: 'True',
        },
        files: {},
      };
    },
  },
);
