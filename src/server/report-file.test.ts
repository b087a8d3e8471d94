import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { evaluation } from '../../test/fixtures/evaluations.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { buildReport } from '../statistics/index.ts';
import { inertJson, reportPage } from './report-file.ts';

test('texts in the data can neither close their element nor open another, and are read unchanged', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('</script><script>alert(1)</script>', '<!--', ']]>', '\u2028\u2029', '&lt;', '$&', "$'"),
  );
  fc.assert(
    fc.property(fc.record({ text, list: fc.array(text) }), (value) => {
      const json = inertJson(value);
      expect(json).not.toMatch(/[<>&\u2028\u2029]/);
      expect(JSON.parse(json)).toEqual(value);
    }),
  );
});

test('a report in one file has its data where the pages read it, and no name in it can run code', () => {
  const pages = join(temporaryFolder(), 'dist');
  mkdirSync(pages);
  const template = '<title>mlagentbench report</title><body><!--mlab-data--><script>pages()</script>';
  writeFileSync(join(pages, 'report.html'), template);
  const report = buildReport([evaluation({ agent: '</script><img src=x onerror=alert(1)>$&' })]);
  const title = '<b>$& "one"';
  const page = reportPage(pages, { v: 1, title, mlab: '1', report, comparison: null, unreadable: [] });
  expect(page).toContain('<title>&lt;b>$&amp; "one"</title>');
  expect(page.match(/<script|<img|<!--/g)).toEqual(['<script', '<script']);
  const data = /<script type="application\/json" id="mlab-data">(.*?)<\/script>/s.exec(page)?.[1];
  expect(JSON.parse(data ?? '')).toMatchObject({
    title,
    report: { agents: ['</script><img src=x onerror=alert(1)>$&'] },
  });
});

test('without built pages the error says how to build them', () => {
  const report = buildReport([evaluation()]);
  const file = { v: 1, title: '', mlab: '1', report, comparison: null } as const;
  expect(() => reportPage(temporaryFolder(), { ...file, unreadable: [] })).toThrow('not built');
});
