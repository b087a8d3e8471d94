import { ViewerInfo } from '../../../src/schema/index.ts';
import { fetchJson, fileSource, serverSource } from './http-source.ts';
import { type Source, SourceError } from './source.ts';

/** Finds out where the data is: at a server, or in files beside the page. */
export async function openSource(signal: AbortSignal): Promise<Source> {
  try {
    return serverSource(await fetchJson('api/info', ViewerInfo, signal));
  } catch (error) {
    if (error instanceof SourceError && error.code !== 'http') throw error;
    const info = await fetchJson('api/info.json', ViewerInfo, signal).catch(() => null);
    if (info === null) throw error;
    return fileSource(info);
  }
}
