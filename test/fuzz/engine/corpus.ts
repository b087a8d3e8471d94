import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', 'corpus');
/** Per target, so that all together stay small. */
const maxInputs = 6;
const maxBytes = 1_500;

/** An input, and the blocks of the sources that it covers. */
interface Candidate {
  content: Buffer;
  covered: ReadonlySet<string>;
}

export interface CorpusFile {
  name: string;
  content: Buffer;
}

/** The kept inputs of a target, by name. */
export function readCorpus(target: string): CorpusFile[] {
  const folder = join(root, target);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .map((name) => ({ name, content: readFileSync(join(folder, name)) }));
}

/** Keeps a few inputs that together cover most of the blocks that all cover; former findings stay. */
export function saveCorpus(target: string, inputs: readonly Candidate[]): void {
  for (const { name } of readCorpus(target)) if (name.startsWith('new-')) rmSync(join(root, target, name));
  const covered = new Set<string>();
  const left = inputs.filter(({ content }) => content.length <= maxBytes);
  for (let count = 0; count < maxInputs; count += 1) {
    const gains = left.map((input) => [...input.covered].filter((block) => !covered.has(block)).length);
    const best = gains.indexOf(Math.max(...gains));
    const input = left[best];
    if (input === undefined || gains[best] === 0) return;
    for (const block of input.covered) covered.add(block);
    left.splice(best, 1);
    save(target, input.content);
  }
}

function save(target: string, input: Buffer): void {
  mkdirSync(join(root, target), { recursive: true });
  const hash = createHash('sha256').update(input).digest('hex').slice(0, 12);
  const path = join(root, target, `new-${hash}.${isUtf8(input) ? 'txt' : 'bin'}`);
  writeFileSync(path, input);
}
