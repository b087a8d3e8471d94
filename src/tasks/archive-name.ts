/** The folder an archive is unpacked into, beside it; null when its name does not end like an archive's. */
export function archiveFolderName(file: string): string | null {
  const name = file.replace(/\.(zip|tar|tar\.gz|tgz)$/i, '');
  return name === file || name === '' ? null : name;
}
