import { chmodSync, lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { sha256, sha256OfFile } from '../lib/hash.ts';
import { openToReaders } from '../lib/open-to-readers.ts';
import { TaskId } from '../schema/index.ts';
import { listFolderFiles } from './folder-files.ts';

const PreparedFile = z.object({
  path: z.string().describe('relative to the prepared folder: public/… or private/…'),
  bytes: z.int(),
  sha256: z.string(),
  modified: z.number().describe('time stamp in milliseconds: while it stands, the content is taken to stand'),
});
export type PreparedFile = z.infer<typeof PreparedFile>;

const PreparedSource = z.object({
  file: z.string(),
  bytes: z.int(),
  sha256: z.string().describe('of the file that was used'),
  expected: z.string().nullable().describe('by task.yaml'),
  from: z.enum(['download', 'mirror']),
  /** For a collection, whose checksum is over the names and checksums of the existing files. */
  collection: z
    .object({
      files: z.int(),
      missing: z.int().describe('files that the list names and that could not be had'),
      first_missing: z.array(z.string()),
    })
    .optional(),
});
export type PreparedSource = z.infer<typeof PreparedSource>;

/** `manifest.json` of a prepared folder. */
export const PreparedManifest = z.object({
  schema: z.literal(1),
  task: TaskId,
  /** The recipe that made the data, without the sources. */
  recipe: z.string(),
  sources: z.array(PreparedSource),
  sample: z.boolean().optional().describe('made up by the task, with no source'),
  verified: z.boolean().describe('whether every source has the checksum that the task names'),
  prepared_at: z.iso.datetime(),
  files: z.array(PreparedFile),
});
export type PreparedManifest = z.infer<typeof PreparedManifest>;

/** A task's data, ready to be mounted. */
export interface PreparedData {
  /** Absolute path; contains the two others and manifest.json. */
  folder: string;
  /** What an agent sees as `data/`. */
  publicFolder: string;
  /** What only graders see. */
  privateFolder: string;
  verified: boolean;
  manifest: PreparedManifest;
}

export const manifestName = 'manifest.json';
export const parts = ['public', 'private'] as const;

/** One hash over all files of a task's data, which identifies it. */
export function dataVersion({ manifest: { files } }: Pick<PreparedData, 'manifest'>): string {
  const named = files.map(({ path, sha256: hash }) => `${hash} ${path}`);
  return sha256(named.sort().join('\n'));
}

export function preparedData(folder: string, manifest: PreparedManifest): PreparedData {
  return {
    folder,
    publicFolder: join(folder, 'public'),
    privateFolder: join(folder, 'private'),
    verified: manifest.verified,
    manifest,
  };
}

export function readManifest(folder: string): PreparedManifest | null {
  try {
    return PreparedManifest.parse(JSON.parse(readFileSync(join(folder, manifestName), 'utf8')));
  } catch {
    return null;
  }
}

/**
 * The data in a folder, if all of it is there unchanged; null otherwise. Fast: a file's content is only read if its
 * time stamp has changed (in a copied cache, say).
 */
export async function readPrepared(folder: string): Promise<PreparedData | null> {
  const manifest = readManifest(folder);
  if (manifest === null || !(await isIntact(folder, manifest.files))) return null;
  await closeToOthers(folder);
  return preparedData(folder, manifest);
}

/**
 * Only the owner may read hidden data. If root runs graders as another user, that user needs access to the data, so the
 * folder around it is closed instead.
 */
export async function closeToOthers(folder: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  if ((lstatSync(folder).mode & 0o777) === 0o500) return;
  chmodSync(folder, 0o500);
  await openToReaders(...parts.map((part) => join(folder, part)));
}

async function isIntact(folder: string, files: readonly PreparedFile[]): Promise<boolean> {
  let present: string[];
  try {
    present = parts.flatMap((part) =>
      listFolderFiles(join(folder, part)).map((file) => `${part}/${file.path}`),
    );
  } catch {
    return false;
  }
  if (present.length !== files.length) return false;
  for (const file of files) {
    const path = join(folder, file.path);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (!stat?.isFile() || stat.size !== file.bytes) return false;
    if (Math.floor(stat.mtimeMs) !== file.modified && (await sha256OfFile(path)) !== file.sha256)
      return false;
  }
  return true;
}

/** Describes everything in public/ and private/. */
export async function describeFiles(folder: string): Promise<PreparedFile[]> {
  const files: PreparedFile[] = [];
  for (const part of parts) {
    for (const { path } of listFolderFiles(join(folder, part))) {
      const full = join(folder, part, path);
      const stat = lstatSync(full);
      files.push({
        path: `${part}/${path}`,
        bytes: stat.size,
        sha256: await sha256OfFile(full),
        modified: Math.floor(stat.mtimeMs),
      });
    }
  }
  return files;
}
