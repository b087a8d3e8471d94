/**
 * `npm run adversary`: tries all attacks in every row of the matrix; exits with 1 if one worked or broke.
 *
 *   --row ID   only this row, in this process, as it is
 *   --only X   only attacks whose aim, name or title contains X
 *   --at-once N  number of rows in parallel, for machines with spare cores; default: 1
 *   --write    writes the table to docs/threat-model.md
 */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pLimit from 'p-limit';
import { z } from 'zod';
import { plainLine } from '../../src/lib/plain-line.ts';
import { removeTree } from '../../src/lib/read-only-tree.ts';
import { type Row, rowOf, rows } from './rows.ts';
import { belongsTo, findAttacks, obstacleTo, Result, runAttack } from './run-attacks.ts';
import { startInRow } from './start-row.ts';
import { type TriedRow, tableOf, withTable } from './table.ts';

const root = join(import.meta.dirname, '../..');
const RowFile = z.object({ obstacle: z.string().nullable(), results: z.array(Result) });
type RowFile = z.infer<typeof RowFile>;

const { values } = parseArgs({
  options: {
    row: { type: 'string', multiple: true },
    only: { type: 'string' },
    'at-once': { type: 'string', default: '1' },
    write: { type: 'boolean', default: false },
    into: { type: 'string' },
  },
});
if (values.into !== undefined) await tryHere(rowOf(values.row?.[0] ?? ''), values.into);
else await tryAll(values.row?.map(rowOf) ?? rows);

async function tryAll(chosen: readonly Row[]): Promise<void> {
  const turns = pLimit(Number(values['at-once']));
  const tried: TriedRow[] = await Promise.all(
    chosen.map((row) => turns(async () => ({ row, ...(await tryRow(row)) }))),
  );
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  const table = tableOf(tried, version);
  console.log(`\n${table}`);
  const page = join(root, 'docs/threat-model.md');
  if (values.write) writeFileSync(page, withTable(readFileSync(page, 'utf8'), table));
  const failed = tried.flatMap(({ results }) => results.filter(({ outcome }) => isFailure(outcome)));
  process.exitCode = failed.length === 0 ? 0 : 1;
}

/** In a separate process, which may be another user's. */
async function tryRow(row: Row): Promise<RowFile> {
  const home = mkdtempSync(join(tmpdir(), 'mlab-row-'));
  try {
    const file = join(home, 'results.json');
    const only = values.only === undefined ? [] : ['--only', values.only];
    const argv = [
      process.execPath,
      join(import.meta.dirname, 'main.ts'),
      '--row',
      row.id,
      '--into',
      file,
      ...only,
    ];
    const code = await startInRow(row, argv, home);
    if (code !== 0) throw new Error(`the row ${row.id} ended with exit code ${code}`);
    return RowFile.parse(JSON.parse(readFileSync(file, 'utf8')));
  } finally {
    removeTree(home);
  }
}

async function tryHere(row: Row, into: string): Promise<void> {
  const why = await obstacleTo(row);
  const obstacle = why === null ? null : plainLine(why, 240);
  const results: Result[] = [];
  if (obstacle !== null) console.log(`skipped  ${row.title}: ${obstacle}`);
  else {
    for (const found of await findAttacks()) {
      const described = `${found.aim}/${found.name}: ${found.attack.title}`;
      if (!belongsTo(found, row) || !described.includes(values.only ?? '')) continue;
      const result = await runAttack(found, row);
      results.push(result);
      console.log(
        `${result.outcome.padEnd(8)} ${row.title} | ${described} | ${result.why} (${result.seconds.toFixed(1)} s)`,
      );
    }
  }
  writeFileSync(into, JSON.stringify({ obstacle, results } satisfies RowFile));
  // Anything that an attack left behind in this process must not keep it from ending.
  process.exit(0);
}

function isFailure(outcome: Result['outcome']): boolean {
  return outcome === 'worked' || outcome === 'broken';
}
