/** What the text of a simulated script says: an approach, and the changes that were made to it. */
export interface Version {
  seed: number;
  approach: string;
  /** Whether its crash, if it has one, was repaired; by name of the change. */
  changes: ReadonlyMap<string, { repaired: boolean }>;
  /** The line that is no valid code; null if there is none. */
  broken: string | null;
  /** It stops itself after so many seconds. */
  stopsAfter: number;
}

export function textOf({ seed, approach, changes, broken }: Version): string {
  const uses = [...changes].map(
    ([name, { repaired }]) => `use("${name}"${repaired ? ', repaired=True' : ''})`,
  );
  const lines = [`SEED = ${seed}`, `approach("${approach}")`, ...uses, ...(broken === null ? [] : [broken])];
  return `${lines.join('\n')}\n`;
}

export function versionIn(text: string): Version {
  const uses = text.matchAll(/^use\("([\w-]+)"(, repaired=True)?\)$/gm);
  const stop = /\.alarm\((\d+)\)/.exec(text)?.[1];
  return {
    seed: Number(/^SEED = (\d+)$/m.exec(text)?.[1] ?? 0),
    approach: /^approach\("([\w-]+)"\)$/m.exec(text)?.[1] ?? '',
    changes: new Map(
      [...uses].map(([, name = '', repaired]) => [name, { repaired: repaired !== undefined }]),
    ),
    broken: /^use\([^)\n]*$/m.exec(text)?.[0] ?? null,
    stopsAfter: stop === undefined ? Number.POSITIVE_INFINITY : Number(stop),
  };
}
