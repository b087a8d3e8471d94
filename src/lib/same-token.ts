import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether two tokens are the same, in a time that does not show where they differ. */
export function isSameToken(given: string, token: string): boolean {
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
