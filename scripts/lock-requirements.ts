/**
 * Writes the locks of the tasks' requirements: `tasks/.locks/`, one file for all tasks that have the same ones, with the
 * SHA-256 of every file that the index has of each version. `npm run node scripts/lock-requirements.ts [folder of tasks]`.
 *
 * torch stays without hashes: which of its builds a machine gets, for its GPU or without one, is the index's to say.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { cacheFolder } from '../src/lib/cache-folder.ts';
import { ensureUv, findTasks, lockFile, readRequirements } from '../src/tasks/index.ts';

const withoutHashes = /^torch==/;

const folder = resolve(process.argv[2] ?? join(import.meta.dirname, '../tasks'));
const { executable } = await ensureUv({ cache: cacheFolder(process.env) });
const sets = new Map(
  findTasks([folder]).tasks.map(({ requirements }) => [lockFile(folder, requirements), requirements]),
);
for (const [file, requirements] of sets) {
  const lines = [...readRequirements(requirements).keys()].sort();
  if (lines.length === 0) continue;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${locked(lines).join('\n')}\n`);
  console.log(file);
}

function locked(lines: readonly string[]): string[] {
  const pins = lines.filter((line) => !withoutHashes.test(line)).map(pinOf);
  // A package may have a version for each Python, but uv takes one at a time.
  const [first, second] = [new Map<string, string>(), new Map<string, string>()];
  for (const pin of pins) {
    const [name = ''] = pin.split('==');
    (first.has(name) ? second : first).set(name, pin);
  }
  const hashes = new Map([...hashesOf([...first.values()]), ...hashesOf([...second.values()])]);
  return lines.map((line) => {
    const known = hashes.get(pinOf(line)) ?? [];
    if (known.length === 0 && !withoutHashes.test(line)) throw new Error(`the index has no hash for ${line}`);
    return [line, ...known].join(' ');
  });
}

function pinOf(line: string): string {
  return line.replace(/\s*;.*$/, '');
}

/** By `name==version`. */
function hashesOf(pins: readonly string[]): Map<string, string[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'mlab-lock-'));
  try {
    const input = join(scratch, 'requirements.txt');
    writeFileSync(input, `${pins.join('\n')}\n`);
    const options = ['-q', '--no-deps', '--generate-hashes', '--no-header', '--no-annotate'];
    const compiled = execFileSync(executable, ['pip', 'compile', ...options, input], {
      encoding: 'utf8',
    });
    const entries = compiled.split(/\n(?=\S)/).map((entry): [string, string[]] => {
      const [pin = ''] = /^[^\s;]+/.exec(entry) ?? [];
      return [pin, entry.match(/--hash=sha256:[0-9a-f]{64}/g) ?? []];
    });
    return new Map(entries);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}
