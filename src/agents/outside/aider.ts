import { baseUrls, outsideAgent } from './outside-agent.ts';

/** Aider, a pair programmer. It edits by text, and runs the task's entry script after each edit. */
export const aider = outsideAgent(
  'aider',
  'Aider, which edits by text and runs the entry script after each edit.',
  {
    package: { registry: 'pypi', name: 'aider-chat', version: '0.86.2' },
    licence: 'Apache-2.0',
    dialects: ['chat_completions', 'messages'],
    start: ({ bundle, interpreter, gateway, token, dialect, model, entry, brief, home }) => {
      const base = dialect === 'messages' ? baseUrls(gateway).anthropic : baseUrls(gateway).openai;
      const provider = dialect === 'messages' ? 'anthropic' : 'openai';
      return {
        argv: [
          ...([interpreter, '-I', `${bundle}/bin/aider`, '--yes-always', '--no-git'] as const),
          ...[
            '--model',
            `${provider}/${model}`,
            '--weak-model',
            `${provider}/mlab-fast`,
            '--edit-format',
            'diff',
          ],
          ...[
            '--no-stream',
            '--no-pretty',
            '--no-check-update',
            '--no-show-model-warnings',
            '--no-show-release-notes',
          ],
          ...['--analytics-disable', '--no-detect-urls', '--no-suggest-shell-commands', '--map-tokens', '0'],
          ...['--chat-history-file', `${home}/chat.md`, '--input-history-file', `${home}/input`],
          ...['--auto-test', '--test-cmd', `python ${entry}`, '--message-file', brief, entry],
        ],
        variables: {
          OPENAI_API_KEY: token,
          OPENAI_API_BASE: base,
          ANTHROPIC_API_KEY: token,
          ANTHROPIC_API_BASE: base,
          LITELLM_LOCAL_MODEL_COST_MAP: 'True',
        },
        files: {},
      };
    },
  },
);
