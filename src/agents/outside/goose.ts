import type { DialectName } from '../../schema/index.ts';
import { claims } from './claims.ts';
import { asksWithoutTools, outsideAgent } from './outside-agent.ts';
import type { ProgramPlace, ProgramStart } from './program.ts';

/** It has one package for each processor architecture, and none for all of them. */
const name = `@aaif/goose-binary-linux-${process.arch}`;

/** The Agentic AI Foundation's goose. */
export const goose = outsideAgent('goose', "The Agentic AI Foundation's goose.", {
  package: { registry: 'npm', name, version: '1.52.0' },
  licence: 'Apache-2.0',
  dialects: ['messages', 'responses', 'generate_content', 'chat_completions'],
  isSideCall: asksWithoutTools,
  claim: claims.goose,
  start: (place) =>
    startGoose(place, ['run', '--output-format', 'stream-json', '--text', place.prompt], 'auto'),
  acp: (place) => startGoose(place, ['acp'], 'approve'),
});

/** @param mode whether it acts directly, or asks for permission first */
function startGoose(place: ProgramPlace, words: readonly string[], mode: 'auto' | 'approve'): ProgramStart {
  const { bundle, gateway, token, dialect, model } = place;
  return {
    argv: [`${bundle}/node_modules/${name}/bin/goose`, ...words],
    variables: {
      GOOSE_MODEL: model,
      GOOSE_MODE: mode,
      GOOSE_DISABLE_KEYRING: 'true',
      GOOSE_TELEMETRY_ENABLED: 'false',
      ...providerVariables(dialect, gateway, token),
    },
    files: {},
  };
}

function providerVariables(dialect: DialectName, gateway: string, token: string): Record<string, string> {
  const openai = { GOOSE_PROVIDER: 'openai', OPENAI_HOST: gateway, OPENAI_API_KEY: token };
  switch (dialect) {
    case 'messages':
      return { GOOSE_PROVIDER: 'anthropic', ANTHROPIC_HOST: gateway, ANTHROPIC_API_KEY: token };
    case 'generate_content':
      return { GOOSE_PROVIDER: 'google', GOOGLE_HOST: gateway, GOOGLE_API_KEY: token };
    case 'responses':
      return { ...openai, OPENAI_BASE_PATH: 'v1/responses' };
    case 'chat_completions':
      // It replaces its default path, `v1/chat/completions`, by that of the other API if the model's name is that of a
      // new OpenAI model.
      return { ...openai, OPENAI_BASE_PATH: 'chat/completions' };
  }
}
