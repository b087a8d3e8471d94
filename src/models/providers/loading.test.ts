import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);

/** Prints which packages of the AI SDK are loaded by importing the module, then by making one model. */
const script = `
  import { registerHooks } from 'node:module';
  const loaded = [];
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      const name = /node_modules\\/(@ai-sdk\\/(?:anthropic|openai|google|openai-compatible)|ai)\\//.exec(found.url)?.[1];
      if (name !== undefined && !loaded.includes(name)) loaded.push(name);
      return found;
    },
  });
  const { createProviderAdapter } = await import(${JSON.stringify(new URL('./index.ts', import.meta.url))});
  const before = [...loaded];
  await createProviderAdapter('anthropic/claude', {}, { ANTHROPIC_API_KEY: 'a-real-secret' });
  console.log(JSON.stringify({ before, after: loaded }));
`;

describe('the package of a provider', () => {
  it('is loaded when one of its models is created, and no other package is', async () => {
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script]);
    expect(JSON.parse(stdout)).toEqual({ before: [], after: ['@ai-sdk/anthropic'] });
  });
});
