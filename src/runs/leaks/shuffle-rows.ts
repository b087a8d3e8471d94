import { randomOf } from '../../statistics/index.ts';

/**
 * A CSV text with the same header and its rows in another order, in which each has another place; the same for the same
 * seed. Cells stay as they are written.
 */
export function shuffleRows(text: string, seed: string): string {
  const [header = '', ...rows] = rowsOf(text);
  const random = randomOf(seed);
  // Sattolo's variant of the Fisher–Yates shuffle: one cycle over all rows.
  for (let last = rows.length - 1; last > 0; last -= 1) {
    const other = random(last);
    [rows[last], rows[other]] = [rows[other] ?? '', rows[last] ?? ''];
  }
  const lineEnd = text.includes(`${header}\r\n`) ? '\r\n' : '\n';
  return [header, ...rows].map((row) => row + lineEnd).join('');
}

/** Rows as they are written, without the ends of their lines; blank lines are left out. */
export function rowsOf(text: string): string[] {
  const rows: string[] = [];
  let state: 'start' | 'plain' | 'quoted' | 'closed' = 'start';
  let from = 0;
  const add = (to: number) => {
    const row = text.slice(from, to).replace(/\r$/, '');
    if (row.trim() !== '') rows.push(row);
    from = to + 1;
  };
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (state === 'quoted') {
      if (character === '"') state = 'closed';
    } else if (character === '"' && state !== 'plain') {
      // The second one of a pair opens the cell again.
      state = 'quoted';
    } else if (character === ',') state = 'start';
    else if (character === '\n') {
      state = 'start';
      add(at);
    } else state = 'plain';
  }
  add(text.length);
  return rows;
}
