import { claims } from './claims.ts';
import { asksWithoutTools, baseUrls, outsideAgent } from './outside-agent.ts';
import type { ProgramPlace, ProgramStart } from './program.ts';

/** OpenAI's Codex CLI. */
export const codex = outsideAgent(
  'codex',
  "OpenAI's Codex CLI.",
  {
    package: { registry: 'npm', name: '@openai/codex', version: '0.169.0' },
    licence: 'Apache-2.0',
    dialects: ['responses'],
    isSideCall: asksWithoutTools,
    claim: claims.codex,
    start: (place) => startCodex(place, ['--', place.prompt]),
    session: {
      keep: ['.codex/sessions'],
      start: (place) => startCodex(place, ['resume', '--last', '--', place.prompt]),
    },
  },
  { effort: { description: 'reasoning effort: low, medium, high …; empty: its own', default: '' } },
);

function startCodex(place: ProgramPlace, mode: readonly string[]): ProgramStart {
  const { bundle, interpreter, gateway, token, model, home, options } = place;
  return {
    argv: [
      ...([interpreter, `${bundle}/node_modules/@openai/codex/bin/codex.js`, 'exec'] as const),
      ...['--dangerously-bypass-approvals-and-sandbox', '--skip-git-repo-check', '--json'],
      ...['--model', model, ...mode],
    ],
    variables: { CODEX_HOME: `${home}/.codex`, MLAB_TOKEN: token },
    files: { '.codex/config.toml': codexConfiguration(gateway, String(options.effort ?? '')) },
  };
}

/** Defines a separate provider, because the built-in one tries websockets first and requests the list of models. */
export function codexConfiguration(gateway: string, effort: string): string {
  return [
    'model_provider = "mlab"',
    'web_search = "disabled"',
    ...(effort === '' ? [] : [`model_reasoning_effort = ${JSON.stringify(effort)}`]),
    '[model_providers.mlab]',
    'name = "mlab"',
    `base_url = "${baseUrls(gateway).openai}"`,
    'env_key = "MLAB_TOKEN"',
    'wire_api = "responses"',
    'stream_idle_timeout_ms = 3600000',
    '[analytics]',
    'enabled = false',
    '',
  ].join('\n');
}
