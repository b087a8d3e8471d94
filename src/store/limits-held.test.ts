import { expect, test } from 'vitest';
import { limitsHeldText } from './limits-held.ts';

const host = { memory_held_by: 'cgroup v2', processes_held_by: 'cgroup v2', agent_user: "harness's user" };

test('the text says how the limits of a run were enforced, and is null if that was not recorded', () => {
  expect(limitsHeldText({ host }, null)).toBe(
    "limits enforced by: cgroup v2 (memory, processes); agent code ran under harness's user",
  );
  expect(limitsHeldText({ host: { platform: 'linux' } }, null)).toBeNull();
});
