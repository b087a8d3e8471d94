import { expect, it } from 'vitest';
import { checkSandbox } from './check-sandbox.ts';

it('says of each requirement of sandboxes whether it is met, and how to meet it', async () => {
  const findings = await checkSandbox();
  expect(findings.map(({ name }) => name)).toEqual([
    'bubblewrap',
    'limits',
    'workspace',
    'container engine',
    'GPU',
  ]);
  for (const { state, detail, fix } of findings) {
    expect(detail).not.toBe('');
    if (state === 'ok') expect(fix).toBeNull();
    if (state === 'missing') expect(fix).not.toBeNull();
  }
});
