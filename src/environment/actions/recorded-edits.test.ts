import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { sharedData } from '../../../test/fixtures/shared-data.ts';
import { codeOfReply } from './reply-code.ts';

const data = sharedData();
const runs = data === null ? null : join(dirname(data), 'recorded-runs');
const present = runs !== null && existsSync(runs);

const Call = z.object({ role: z.string(), prompt: z.string(), completion: z.string() });

/** What the editing models of recorded runs replied. */
function editReplies(model: string): string[] {
  return globSync(join(runs ?? '', model, '*/*/calls.jsonl.gz')).flatMap((file) => {
    const lines = gunzipSync(readFileSync(file)).toString('utf8').trim().split('\n');
    const calls = lines.map((line) => Call.parse(JSON.parse(line)));
    return calls
      .filter(({ role, prompt }) => role === 'tool' && prompt.includes('Edit the script by following'))
      .map(({ completion }) => completion);
  });
}

/** The code that the original program found in a reply; null if it found none. */
function takenByOriginal(reply: string): string | null {
  return reply.split('```python')[1]?.split('```')[0]?.trim() ?? null;
}

describe.skipIf(!present)('edits of recorded runs (skipped without them)', () => {
  test.each([
    ['codellama', { replies: 71, unended: 0, original: 40 }],
    ['gemini-pro', { replies: 123, unended: 25, original: 123 }],
  ])('by %s: all code is found unless the reply was cut off', (model, expected) => {
    const replies = editReplies(model);
    const found = replies.map((reply) => codeOfReply(reply, { python: true }));
    const problems = found.flatMap((one) => (one.ok ? [] : [one.problem]));
    expect(new Set(problems).size).toBeLessThanOrEqual(1);
    expect({
      replies: replies.length,
      unended: problems.filter((problem) => problem.includes('does not end')).length,
      original: replies.filter((reply) => takenByOriginal(reply) !== null).length,
    }).toEqual(expected);
    for (const [index, one] of found.entries()) {
      const original = takenByOriginal(replies[index] ?? '');
      // The original also ended where a fence within the code begins.
      if (one.ok && original !== null) expect(one.code.trim().startsWith(original)).toBe(true);
    }
  });
});
