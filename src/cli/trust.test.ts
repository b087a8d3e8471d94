import { expect, test } from 'vitest';
import { refuseAddresses } from './trust.ts';

const at = (address: string) => ({ openai: { base_url: address, api_key_variable: 'SECRET' } });

test.each([
  'https://evil.example/v1',
  'http://localhost.evil.example',
  'http://127.0.0.1.evil.example',
  'http://[::2]',
])('a plan that sends keys to %s is refused, unless its maker is trusted', (address) => {
  expect(() => refuseAddresses(at(address), {})).toThrow(
    'The plan has calls of the models of openai sent to',
  );
  expect(() => refuseAddresses(at(address), { trust: true })).not.toThrow();
});

test.each(['http://localhost:11434/v1', 'http://127.0.0.1:1', 'http://[::1]:1'])(
  'a plan that asks models of this machine (%s), or of providers where they are, is obeyed',
  (address) => {
    expect(() => refuseAddresses({ ...at(address), anthropic: { concurrent: 2 } }, {})).not.toThrow();
    expect(() => refuseAddresses(undefined, {})).not.toThrow();
  },
);
