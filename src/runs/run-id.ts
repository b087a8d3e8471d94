import { sha256 } from '../lib/hash.ts';
import { RunId } from '../schema/index.ts';

const longest = 160;

/** The id of a run from its parts. The middle of one that would be too long is replaced by a hash of all of it. */
export function runIdOf(parts: readonly string[]): RunId {
  const whole = parts.join('-');
  if (whole.length <= longest) return RunId.parse(whole);
  const [start, end] = [whole.slice(0, 100), whole.slice(-40)].map((part) =>
    part.replace(/^[-_.]+|[-_.]+$/g, ''),
  );
  return RunId.parse(`${start}-${sha256(whole).slice(0, 8)}-${end}`);
}
