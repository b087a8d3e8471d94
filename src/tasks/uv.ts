import { type HostVariables, pythonVariables } from './host-variables.ts';
import { runProcess } from './run-process.ts';
import { uvHashes } from './uv-hashes.ts';

export const uvVersion = '0.13.9';
/** As a locked requirement: the wheel for this machine has one of the hashes. */
export const uvRequirement = `uv==${uvVersion}${uvHashes.map((hash) => ` --hash=sha256:${hash}`).join('')}`;

export interface Uv {
  executable: string;
  /** The Python of an environment with pip, which knows where this machine gets packages from. */
  python: string;
  /** The cache of unpacked downloads. */
  cache: string;
}

/**
 * Copies files instead of linking them as uv does by default: a write through a link would change every environment
 * that shares the file.
 */
export function uvArguments(uv: Uv, python: string, variables: HostVariables): string[] {
  return [
    ...['pip', 'sync', '--python', python, '--require-hashes', '--only-binary', ':all:'],
    ...['--link-mode', 'copy'],
    ...uvSettings(uv, variables),
  ];
}

/** For every command of uv that looks for packages. */
export function uvSettings({ cache }: Uv, variables: HostVariables): string[] {
  // uv does not read this variable.
  const noIndex = isOn(variables.UV_NO_INDEX) ? ['--no-index'] : [];
  return ['--no-python-downloads', ...noIndex, '--cache-dir', cache];
}

function isOn(setting: string | undefined): boolean {
  return /^(1|true|yes|on)$/i.test(setting ?? '');
}

/** User settings about where packages come from; no other setting may change what is installed, or where. */
const ofUsers =
  /^UV_((DEFAULT_|EXTRA_)?INDEX(_URL)?|INDEX_\w+_(USERNAME|PASSWORD)|NO_INDEX|FIND_LINKS|OFFLINE|HTTP_TIMEOUT|INSECURE_HOST|KEYRING_PROVIDER|(NATIVE_TLS|SYSTEM_CERTS))$/;

/** Environment variables for uv, taken from pip's configuration, so that one mirror serves both. */
export async function uvVariables(
  uv: Uv,
  variables: HostVariables,
  signal: AbortSignal | null,
): Promise<HostVariables> {
  const python = pythonVariables(variables);
  // Not logged: addresses may contain passwords.
  const asked = await runProcess(uv.python, ['-I', '-m', 'pip', 'config', 'list'], {
    variables: python,
    signal,
  });
  const kept = Object.entries(python).filter(([name]) => !name.startsWith('UV_') || ofUsers.test(name));
  return { ...variablesFor(pipSettings(asked.output)), ...Object.fromEntries(kept) };
}

/**
 * What `pip config list` prints, by name: `global.index-url='…'`. Variables override pip's own section, which overrides
 * the global one.
 */
export function pipSettings(printed: string): Map<string, string> {
  const settings = new Map<string, string>();
  for (const section of ['global', 'install', ':env:']) {
    for (const line of printed.split('\n')) {
      const [, of, name = '', , value = ''] = /^([^.]+)\.([\w-]+)=(['"])(.*)\3$/.exec(line) ?? [];
      if (of === section) settings.set(name, value.replaceAll('\\n', ' ').trim());
    }
  }
  return settings;
}

/** The same settings, as variables for uv. */
export function variablesFor(settings: ReadonlyMap<string, string>): HostVariables {
  const words = (name: string) => (settings.get(name) ?? '').split(/\s+/).filter((word) => word !== '');
  const told = {
    UV_DEFAULT_INDEX: settings.get('index-url'),
    UV_INDEX: words('extra-index-url').join(' '),
    UV_FIND_LINKS: words('find-links').join(','),
    UV_NO_INDEX: isOn(settings.get('no-index')) ? '1' : undefined,
    UV_INSECURE_HOST: words('trusted-host').join(' '),
    UV_HTTP_TIMEOUT: settings.get('default-timeout') ?? settings.get('timeout'),
    SSL_CERT_FILE: settings.get('cert'),
    ALL_PROXY: settings.get('proxy'),
    // As with pip: it does not matter which index has a file, because its hash is checked.
    UV_INDEX_STRATEGY: 'unsafe-best-match',
  };
  return Object.fromEntries(Object.entries(told).filter(([, value]) => value !== undefined && value !== ''));
}
