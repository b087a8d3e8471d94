/** Edit distance (Levenshtein) between two texts, in single-character changes. */
export function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replace = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replace, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** The candidate spelled most like `word`, ignoring case; null if none is close (about a third of its letters). */
export function nearest(word: string, candidates: readonly string[]): string | null {
  const wanted = word.slice(0, 100).toLowerCase();
  let best: { candidate: string; distance: number } | null = null;
  for (const candidate of candidates) {
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (best === null || distance < best.distance) best = { candidate, distance };
  }
  if (best === null || best.distance > Math.max(1, Math.ceil(best.candidate.length / 3))) return null;
  return best.candidate;
}
