import { describe, expect, test } from 'vitest';
import { replayOf, WorkspacePlace } from '../../test/fixtures/workspace-place.ts';
import { defaultLimits, type Limits } from '../schema/index.ts';
import type { Environment } from './environment.ts';

async function writeThree(environment: Environment): Promise<string[]> {
  const statuses: string[] = [];
  for (const content of ['one', 'two', 'three']) {
    const args = { file_name: 'notes.txt', content };
    statuses.push((await environment.step({ name: 'Write File', args })).status);
  }
  return statuses;
}

describe('a replay', () => {
  test("of a fork with a higher step limit continues after the parent's last step", async () => {
    let limits: Limits = { ...defaultLimits, steps: 2 };
    await using place = await WorkspacePlace.open({ change: () => ({ limits }) });
    expect(await writeThree(place.environment)).toEqual(['ok', 'ok', 'closed']);
    limits = { ...limits, steps: 3 };
    await place.reopen();
    expect(await writeThree(place.environment)).toEqual(['ok', 'ok', 'ok']);
    const replay = replayOf(place, limits);
    expect(await writeThree(replay)).toEqual(['ok', 'ok', 'ok']);
    expect(replay.missing).toBeNull();
  });
});
