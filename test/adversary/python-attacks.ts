import { copyFileSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { type Attack, type AttackFields, attack, held, skipped, type Verdict, worked } from './attack.ts';
import type { Row } from './rows.ts';
import type { Stage } from './stage.ts';

const Reported = z.object({
  title: z.string(),
  outcome: z.enum(['held', 'worked', 'skipped', 'broken']),
  why: z.string(),
});
type Reported = z.infer<typeof Reported>;

export interface PythonFields extends Partial<AttackFields> {
  /** Titles of those that work without confinement. */
  unconfined?: readonly string[];
  /** Prepares the host: the values that it passes on are in SETTINGS inside. */
  around?: (
    stage: Stage,
    attacks: (settings: Record<string, unknown>) => Promise<Reports>,
  ) => Promise<Reports>;
  /** Runs the file, with its settings and imports, and returns its output; default: in the row's sandbox. */
  start?: Start;
}
type Start = (stage: Stage, files: readonly string[]) => Promise<string>;
type Reports = Map<string, Reported>;

/**
 * The attacks of a Python file, each a function marked `@attack("title")` (see inside.py). The first requested one runs
 * all of them in one start of a sandbox; each is a separate process there.
 */
export function pythonAttacks(
  path: string,
  { unconfined = [], around, start = startInside, ...fields }: PythonFields = {},
): Attack[] {
  const reports = new Map<Row, Promise<Reports>>();
  const titles = [...readFileSync(path, 'utf8').matchAll(/^@?attack\(\s*"([^"]+)"/gm)].map(
    ([, title]) => title ?? '',
  );
  const stray = unconfined.find((title) => !titles.includes(title));
  if (stray !== undefined || titles.length === 0) throw new Error(`${path} has no attack ${stray ?? ''}`);
  return titles.map((title) =>
    attack({
      ...fields,
      title,
      worksUnconfined: unconfined.includes(title),
      run: async (stage) => {
        // The stage of a test of a single attack runs them all, too: they are quick.
        const report = reports.get(stage.row) ?? runAll(stage, path, unconfined, { around, start });
        reports.set(stage.row, report);
        return verdictOf((await report).get(title));
      },
    }),
  );
}

async function runAll(
  stage: Stage,
  path: string,
  unconfined: readonly string[],
  { around, start }: { around: PythonFields['around']; start: Start },
): Promise<Reports> {
  // Some of the others would do harm there.
  const only = stage.row.driver === 'none' ? { only: unconfined } : {};
  const attacks = (settings: Record<string, unknown>) =>
    runFile(stage, path, { ...settings, ...only }, start);
  return around === undefined ? attacks({}) : around(stage, attacks);
}

async function runFile(
  stage: Stage,
  path: string,
  more: Record<string, unknown>,
  start: Start,
): Promise<Reports> {
  const name = basename(path);
  const [file, helpers] = [join(stage.workspace, name), join(stage.workspace, 'inside.py')];
  copyFileSync(path, file);
  copyFileSync(join(import.meta.dirname, 'inside.py'), helpers);
  const settings = { vault: stage.vault, harness: process.pid, ...more };
  const settingsFile = stage.file('workspace/settings.json', JSON.stringify(settings));
  const output = await start(stage, [file, settingsFile, helpers]);
  const lines = output.split('\n').filter((line) => line.startsWith('@attack '));
  const reports = lines.map((line) => Reported.parse(JSON.parse(line.slice('@attack '.length))));
  if (reports.length === 0) throw new Error(`${name} reported nothing: ${output.slice(-2000)}`);
  return new Map(reports.map((report) => [report.title, report]));
}

async function startInside(stage: Stage, [file = '']: readonly string[]): Promise<string> {
  const { output, ending } = await stage.program(['python3', '-B', basename(file)], { timeoutMs: 60_000 });
  return `${output}\n(${ending})`;
}

function verdictOf(report: Reported | undefined): Verdict {
  if (report === undefined || report.outcome === 'broken')
    throw new Error(report?.why ?? 'it did not report: an attack before it ended them all');
  return { held, worked, skipped }[report.outcome](report.why);
}
