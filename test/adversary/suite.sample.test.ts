import { describe, expect, test } from 'vitest';
import { rows } from './rows.ts';
import { belongsTo, findAttacks, obstacleTo, runAttack } from './run-attacks.ts';

const attacks = await findAttacks();
const quick = attacks.filter(({ attack }) => !attack.long);
const user = process.getuid?.() === 0 ? 'root' : 'ordinary';
const tried = rows.filter((row) => row.driver === 'bubblewrap' && row.user === user);
const obstacles = await Promise.all(tried.map(async (row) => [row, await obstacleTo(row)] as const));
const [row, obstacle] = obstacles.find(([, why]) => why === null) ?? obstacles[0] ?? [];
if (row === undefined) throw new Error('the matrix has no row for this user');

describe(`the quick attacks (${row.title})`, () => {
  test.for(quick.filter((found) => belongsTo(found, row)))(
    '$aim/$name: $attack.title',
    async (found, context) => {
      if (obstacle !== null) context.skip(obstacle);
      const { outcome, why } = await runAttack(found, row);
      if (outcome === 'skipped') context.skip(why);
      expect(outcome, why).toBe('held');
    },
  );
});

describe('without a sandbox', () => {
  const unconfined = { id: 'none', title: 'none', driver: 'none', user, groups: null } as const;

  // Otherwise the suite could pass because it notices nothing.
  test.for(attacks.filter(({ attack }) => attack.worksUnconfined))(
    '$aim/$name works: $attack.title',
    async (found) => {
      const { outcome, why } = await runAttack(found, unconfined);
      expect(outcome, why).toBe('worked');
    },
  );
});
