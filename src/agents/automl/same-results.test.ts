import { describe, expect, it } from 'vitest';
import { sameResults } from './same-results.ts';

const seconds = { name: 'seconds', unit: 's', direction: 'minimize' } as const;
const printed = (time: number, mean: string, words = 'shape (2, 3)') =>
  `${words}\nmean: ${mean}\nseconds: ${time}\n[exit code 0, ${time} s]`;

describe('the results of a timed script', () => {
  it('stay the same if only times differ, and numbers by rounding', () => {
    const earlier = [printed(2, '0.5000000'), printed(2.1, '0.5000000')];
    expect(sameResults(earlier, printed(0.1, '0.5000000'), seconds, true)).toBe(null);
    expect(sameResults(earlier, printed(0.1, '0.50000001'), seconds, true)).toBe(null);
  });

  it('differ if a number or a word does, and the answer says which line is missing', () => {
    const earlier = [printed(2, '0.5')];
    expect(sameResults(earlier, printed(0.1, '0.6'), seconds, true)).toContain('mean: 0.5');
    expect(sameResults(earlier, printed(0.1, '0.5', 'shape (2, 4)'), seconds, true)).toContain(
      'shape (2, 3)',
    );
    expect(sameResults(earlier, 'seconds: 0.1', seconds, true)).toContain('no longer prints');
  });

  it('show nothing if two runs of the same script differ, or if no result is printed', () => {
    const earlier = [printed(2, '0.5'), printed(2, '0.7')];
    expect(sameResults(earlier, printed(0.1, '0.9'), seconds, true)).toBe(null);
    expect(sameResults(['seconds: 2'], 'seconds: 1', seconds, true)).toContain('prints nothing');
    expect(sameResults(['seconds: 2'], 'seconds: 1', seconds, false)).toBe(null);
    expect(sameResults([], 'anything', seconds, true)).toBe(null);
  });
});
