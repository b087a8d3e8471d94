import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor } from './redact.ts';

const anyKey = fc.string({ minLength: 12, maxLength: 60, unit: fc.constantFrom(...'abcXYZ0189-_+/=.') });

describe('a redactor', () => {
  it('removes a key in every form, wherever it occurs', () => {
    fc.assert(
      fc.property(anyKey, fc.string(), fc.string(), (letters, before, after) => {
        const key = `${letters}7`;
        const redactor = createRedactor({}, { OPENAI_API_KEY: key });
        const forms = [
          `${before}${key}${after}`,
          encodeURIComponent(`${before.toWellFormed()}${key}`),
          JSON.stringify({ [before]: key }),
        ];
        for (const form of forms) expect(redactor.error(form)).not.toContain(key);
        // The edges of base64 depend on what is next to the key, so a few characters of it may remain.
        const encoded = Buffer.from(`${before}${key}${after}`).toString('base64');
        const decoded = Buffer.from(redactor.text(encoded).replaceAll('[key]', '!!!!'), 'base64').toString();
        expect(decoded).not.toContain(key.slice(2, -2));
      }),
    );
  });

  it('knows the keys of all providers, and the variable that the settings name', () => {
    const variables = {
      ANTHROPIC_API_KEY: 'first-secret-1',
      MY_OWN: 'second-secret-2',
      HF_TOKEN: 'third-secret-3',
    };
    const redactor = createRedactor({ api_key_variable: 'MY_OWN' }, variables);
    expect(redactor.text('first-secret-1 second-secret-2 third-secret-3')).toBe('[key] [key] [key]');
  });

  it('leaves other variables and very short values alone', () => {
    const redactor = createRedactor({}, { HOME: '/home/somebody', OPENAI_API_KEY: 'none' });
    expect(redactor.error('none of /home/somebody')).toBe('none of /home/somebody');
  });

  it.each(['EMPTY', 'ollama', 'lm-studio', 'false'])(
    'leaves %s in the output of a model, although it is a key',
    (word) => {
      const redactor = createRedactor({}, { MLAB_OPENAI_COMPATIBLE_API_KEY: word });
      expect(redactor.text(`use_cache = ${word}`)).toBe(`use_cache = ${word}`);
      expect(redactor.error(`the key ${word} is not known`)).toBe('the key [key] is not known');
    },
  );

  it("removes from error texts what looks like another person's key", () => {
    const { error } = createRedactor({}, {});
    expect(error('Authorization: Bearer abcdef123456')).toBe('Authorization: Bearer [key]');
    expect(error('{"x-api-key":"abcdef123456"}')).toBe('{"x-api-key":"[key]"}');
    expect(error('Incorrect API key provided: sk-abcd****wxyz.')).not.toContain('abcd');
  });

  it('does not change what a model writes about keys', () => {
    const text = 'Send "Authorization: Bearer TOKEN_OF_YOURS", such as sk-0123456789.';
    expect(createRedactor({}, { OPENAI_API_KEY: 'a-real-secret-1' }).text(text)).toBe(text);
  });
});
