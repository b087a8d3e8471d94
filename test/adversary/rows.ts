import type { SandboxDriver } from '../../src/schema/index.ts';

/** One way in which the harness can be installed: a row of the matrix. */
export interface Row {
  id: string;
  title: string;
  driver: SandboxDriver;
  user: 'root' | 'ordinary';
  /** Whether control groups can be made; null if an engine sets limits itself. */
  groups: boolean | null;
}

export const rows: readonly Row[] = [
  row('bubblewrap', 'root', true),
  row('bubblewrap', 'root', false),
  row('bubblewrap', 'ordinary', true),
  row('bubblewrap', 'ordinary', false),
  row('docker', 'root', null),
  row('docker', 'ordinary', null),
];

function row(driver: SandboxDriver, user: Row['user'], groups: boolean | null): Row {
  const limits = groups === null ? [] : [groups ? 'control groups' : 'no control groups'];
  const title = [driver, user === 'root' ? 'root' : 'ordinary user', ...limits].join(', ');
  return { id: title.replaceAll(/,? /g, '-'), title, driver, user, groups };
}

export function rowOf(id: string): Row {
  const found = rows.find((one) => one.id === id);
  if (found === undefined) throw new Error(`no row ${id}; there are ${rows.map((one) => one.id).join(', ')}`);
  return found;
}
