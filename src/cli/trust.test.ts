import { expect, test } from 'vitest';
import { refuseAddresses, refuseHostFiles, refuseRecordedPlace } from './trust.ts';

const at = (address: string) => ({ openai: { base_url: address, api_key_variable: 'SECRET' } });

test.each([
  'https://evil.example/v1',
  'http://localhost.evil.example',
  'http://127.0.0.1.evil.example',
  'http://[::2]',
])('a plan that sends keys to %s is refused, unless its maker is trusted', (address) => {
  expect(() => refuseAddresses(at(address), {})).toThrow('The plan sends calls to models of openai to');
  expect(() => refuseAddresses(at(address), { trust: true })).not.toThrow();
});

test.each(['http://localhost:11434/v1', 'http://127.0.0.1:1', 'http://[::1]:1'])(
  'a plan that calls models on this machine (%s), or providers at their own addresses, is accepted',
  (address) => {
    expect(() => refuseAddresses({ ...at(address), anthropic: { concurrent: 2 } }, {})).not.toThrow();
    expect(() => refuseAddresses(undefined, {})).not.toThrow();
  },
);

test('a plan cannot choose a variable to send as a key, except those of the provider itself', () => {
  const plan = (kind: 'openai', variable: string) => ({ other: { kind, api_key_variable: variable } });
  expect(() => refuseAddresses(plan('openai', 'OPENAI_API_KEY'), {})).not.toThrow();
  for (const variable of ['ANTHROPIC_API_KEY', 'GITHUB_TOKEN']) {
    expect(() => refuseAddresses(plan('openai', variable), {})).toThrow(variable);
    expect(() => refuseAddresses(plan('openai', variable), { trust: true })).not.toThrow();
  }
});

test('a plan cannot show a file of this machine to an agent', () => {
  const run = {
    id: 'a' as never,
    agent: 'command',
    agent_options: { command: 'cat key', files: '/home/me/key' },
  };
  expect(() => refuseHostFiles(run, 'The plan', {})).toThrow('/home/me/key');
  expect(() => refuseHostFiles(run, 'The plan', { trust: true })).not.toThrow();
  expect(() => refuseHostFiles({ ...run, agent: 'automl' }, '', {})).not.toThrow();
  expect(() => refuseHostFiles({ ...run, agent_options: { command: 'true' } }, '', {})).not.toThrow();
});

test('jobs are looked for where they were before on this machine, or on the Redis of the environment', () => {
  const variables = { MLAB_REDIS_URL: 'redis://:secret@mine:6379' };
  for (const place of [null, 'slurm', 'redis', 'redis://localhost:6379', 'redis://mine:6379/0'])
    expect(() => refuseRecordedPlace(place, variables)).not.toThrow();
  for (const place of ['redis://evil:6379', 'rediss://mine.evil:6379', 'redis://mine:1'])
    expect(() => refuseRecordedPlace(place, variables)).toThrow(place);
});
