/** How to install an optional library, in a project and in a clone of the repository. */
export function installHint(packages: string, where = ''): string {
  return `Install it beside mlab${where}: npm install ${packages} (in a clone of the repository: npm install --no-save ${packages}, which leaves package.json as it is).`;
}
