import { ViewerInfo } from '../../../src/schema/index.ts';
import { fetchJson, fileSource, serverSource } from './http-source.ts';
import type { Source } from './source.ts';

/** Where the data is: at a server, or in files beside the page, as the head of an export's pages says. */
export async function openSource(page: Document, signal: AbortSignal): Promise<Source> {
  const isExport = page.querySelector('meta[name="mlab-source"][content="export"]') !== null;
  return isExport
    ? fileSource(await fetchJson('api/info.json', ViewerInfo, signal))
    : serverSource(await fetchJson('api/info', ViewerInfo, signal));
}
