export type JudgedPath = { ok: true; path: string } | { ok: false; reason: string };

const depthMax = 32;
const lengthMax = 1024;
const nameBytesMax = 255;

/**
 * Whether an archive's entry may be written below the folder into which it is unpacked, and as which relative path.
 * Refuses paths that would leave the folder on any system, and names that hide what they are.
 */
export function judgeEntryPath(name: string): JudgedPath {
  const refuse = (reason: string): JudgedPath => ({ ok: false, reason });
  if (name.length > lengthMax) return refuse('the path is too long');
  if (/[\u0000-\u001f\u007f]/.test(name)) return refuse('the path has control characters');
  if (name.includes('\\')) return refuse('the path has a backslash');
  if (name.startsWith('/')) return refuse('the path is absolute');
  const segments = name.split('/').filter((segment) => segment !== '' && segment !== '.');
  if (segments.includes('..')) return refuse('the path leads upwards');
  if (segments.length === 0) return refuse('the path is empty');
  if (/^[A-Za-z]:/.test(segments.join('/'))) return refuse('the path names a drive');
  if (segments.length > depthMax) return refuse('the path is too deep');
  if (segments.some((segment) => Buffer.byteLength(segment) > nameBytesMax))
    return refuse('a name is too long');
  return { ok: true, path: segments.join('/') };
}
