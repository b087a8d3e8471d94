import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface FakeEngine {
  /** For the docker driver. */
  command: string;
  /** Names of containers that were started and not removed. */
  containers(): string[];
  /** No container starts after this. */
  refuse(): void;
}

/**
 * A minimal container engine: its containers are unconfined processes of the host. It answers the requests of the
 * docker driver, and forgets a container that it kills, as if somebody else had removed it.
 * @param folder an empty folder for its program and its containers
 */
export function fakeEngine(folder: string): FakeEngine {
  const command = join(folder, 'engine');
  const refusal = join(folder, 'refusal');
  writeFileSync(command, script(folder, refusal), { mode: 0o755 });
  return {
    command,
    containers: () => readdirSync(folder).flatMap((name) => /^(.*)\.pid$/.exec(name)?.[1] ?? []),
    refuse: () => {
      if (!existsSync(refusal)) writeFileSync(refusal, '');
    },
  };
}

function script(folder: string, refusal: string): string {
  return `#!/bin/sh
for last; do :; done
container="${folder}/$last.pid"
case "$1" in
  --version) echo 'fake 1.0' ;;
  image) echo known ;;
  info | ps | exec) ;;
  run)
    [ -e '${refusal}' ] && { echo 'no space left' >&2; exit 125; }
    while [ "\${1#mlab-empty:}" = "$1" ]; do [ "$1" = --name ] && name="$2"; shift; done
    echo $$ > "${folder}/$name.pid"
    shift
    exec /bin/sh "$@" ;;
  container)
    [ -e "$container" ] || { echo "Error: No such container: $last" >&2; exit 1; }
    echo '{"Running":true,"ExitCode":0,"OOMKilled":false}' ;;
  kill | rm)
    [ -e "$container" ] || exit 1
    read -r pid < "$container"
    rm "$container"
    kill -KILL "$pid" ;;
esac
`;
}
