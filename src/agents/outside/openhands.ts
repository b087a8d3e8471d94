import { claims } from './claims.ts';
import { openhandsPackages } from './openhands-packages.ts';
import { baseUrls, outsideAgent } from './outside-agent.ts';
import type { ProgramPlace } from './program.ts';

/** Models for which it uses the Responses API, chosen by their names alone. */
const byResponses = /gpt-5|codex-mini-latest/i;

/** The command-line program of OpenHands. */
export const openhands = outsideAgent('openhands', "OpenHands' command-line program.", {
  package: {
    registry: 'pypi',
    name: 'openhands',
    version: '1.16.0',
    beside: openhandsPackages,
    isWhole: true,
    python: '3.12',
  },
  licence: 'MIT',
  dialects: ['messages', 'responses', 'chat_completions'],
  claim: claims.openhands,
  start: (place) => {
    const { bundle, interpreter, gateway, token, dialect, prompt, home } = place;
    return {
      argv: [
        ...([interpreter, '-I', `${bundle}/bin/openhands`, '--headless', '--json'] as const),
        ...['--override-with-envs', '--task', prompt],
      ],
      variables: {
        LLM_API_KEY: token,
        LLM_BASE_URL: dialect === 'messages' ? baseUrls(gateway).anthropic : baseUrls(gateway).openai,
        LLM_MODEL: modelName(place),
        LITELLM_LOCAL_MODEL_COST_MAP: 'True',
        OPENHANDS_SUPPRESS_BANNER: '1',
        // Without a sandbox, other runs have terminals, too.
        TMUX_TMPDIR: home,
      },
      files: {},
    };
  },
});

function modelName({ dialect, model }: ProgramPlace): string {
  if (dialect === 'messages') return `anthropic/${model}`;
  return dialect === 'chat_completions' && byResponses.test(model) ? 'openai/mlab-agent' : `openai/${model}`;
}
