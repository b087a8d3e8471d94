import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';

type Slot = 'pipe' | 'ignore' | number;

const closeOnExec = 0o2000000;
let known: number[] | null = null;

/**
 * Files that were open when this process started would be open in every process it starts, even inside the sandbox.
 * Node can't close them for a child, but it can replace each by another file: /dev/null.
 */
export function coverInherited(slots: readonly Slot[]): Disposable & { stdio: Slot[] } {
  // Files that this process opens itself are closed in its children; only those it began with are not.
  known ??= inheritedFiles();
  const inherited = known.filter((file) => file >= slots.length);
  if (inherited.length === 0) return { stdio: [...slots], [Symbol.dispose]: () => {} };
  const nothing = openSync('/dev/null', 'r');
  const stdio: Slot[] = [...slots];
  while (stdio.length <= Math.max(...inherited)) stdio.push('ignore');
  for (const file of inherited) stdio[file] = nothing;
  return { stdio, [Symbol.dispose]: () => closeSync(nothing) };
}

/** Open files, besides the standard three, that a new program would inherit. */
function inheritedFiles(): number[] {
  return listOpen().filter((file) => file > 2 && survivesExec(file));
}

function listOpen(): number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number);
  } catch {
    return [];
  }
}

function survivesExec(file: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${file}`, 'latin1'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    return false;
  }
}
