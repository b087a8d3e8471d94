/** A smaller input for which `shows` still holds: ever smaller pieces are left out, until time is up. */
export async function minimise(
  input: Buffer,
  shows: (smaller: Buffer) => Promise<boolean>,
  milliseconds: number,
): Promise<Buffer> {
  const end = performance.now() + milliseconds;
  let smallest = input;
  for (let size = Math.ceil(input.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < smallest.length; ) {
      if (performance.now() > end) return smallest;
      const smaller = Buffer.concat([smallest.subarray(0, at), smallest.subarray(at + size)]);
      if (await shows(smaller)) smallest = smaller;
      else at += size;
    }
  }
  return smallest;
}
