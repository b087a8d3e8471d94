/** The folder into which an archive is unpacked, beside it; null if its name has no archive suffix. */
export function archiveFolderName(file: string): string | null {
  const name = file.replace(/\.(zip|tar|tar\.gz|tgz)$/i, '');
  return name === file || name === '' ? null : name;
}
