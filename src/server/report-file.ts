import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../lib/errors.ts';
import { ReportFile } from '../schema/index.ts';

const dataMark = '<!--mlab-data-->';
const titlePattern = /<title>[^<]*<\/title>/;

/**
 * A report as one page that opens without a server: the built pages with the data inside, as text that browsers don't
 * execute.
 * @param pages folder of the built pages
 * @throws UserError `no_pages`
 */
export function reportPage(pages: string, file: ReportFile): string {
  const template = join(pages, 'report.html');
  if (!existsSync(template)) throw noPages();
  const data = inertJson(ReportFile.parse(file));
  return readFileSync(template, 'utf8')
    .replace(titlePattern, () => `<title>${escapedText(file.title)}</title>`)
    .replace(dataMark, () => `<script type="application/json" id="mlab-data">${data}</script>`);
}

export function noPages(): UserError {
  return new UserError(
    'no_pages',
    'The pages of the viewer are not built.',
    'Build them with: npm run build',
  );
}

/** JSON without tags or comments, whatever its texts: it can't close the element that contains it. */
export function inertJson(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll('<', '\\u003c')
    .replaceAll('>', '\\u003e')
    .replaceAll('&', '\\u0026')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
}

function escapedText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
