/** The last that is printed; 0 where there is none. */
export function printedAccuracy(text: string): number {
  return Number([...text.matchAll(/accuracy: ([0-9.]+)/g)].at(-1)?.[1] ?? 0);
}

/** Null where the script has no such constant. */
export function withDoubled(script: string, constant: string): string | null {
  const line = new RegExp(`^${constant} = (\\d+)$`, 'm');
  const value = line.exec(script)?.[1];
  return value === undefined ? null : script.replace(line, `${constant} = ${2 * Number(value)}`);
}
