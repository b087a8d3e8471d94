/** How to install an optional library, for whoever has a project, and for whoever has a clone of the repository. */
export function installHint(packages: string, where = ''): string {
  return `Install it beside mlab${where}: npm install ${packages} (in a clone of the repository: npm install --no-save ${packages}, which leaves package.json as it is).`;
}
