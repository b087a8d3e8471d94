/** Slurm's own limit is 4,000,001. */
const maxIndices = 5_000_000;

/** Reads the indices of an array as Slurm writes them, `0-3,7,10-20:2%5`, or in Kubernetes' simpler format: `0-3,7`. */
export function indicesOf(text: string): number[] {
  return text.split(',').flatMap((part) => {
    const [, from, to, step] = /^(\d+)(?:-(\d+)(?::(\d+))?)?(?:%\d+)?$/.exec(part) ?? [];
    if (from === undefined) return [];
    const first = Number(from);
    const by = Math.max(1, Number(step ?? 1));
    const count = Math.floor((Number(to ?? from) - first) / by) + 1;
    return Array.from({ length: Math.max(0, Math.min(count, maxIndices)) }, (_, at) => first + at * by);
  });
}
