import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { sha256 } from '../../../src/lib/hash.ts';
import type { SandboxSpec } from '../../../src/sandbox/index.ts';
import { attack, held, skipped, type Verdict, worked } from '../attack.ts';
import type { Stage } from '../stage.ts';

/** Searches these folders inside, including compressed files. */
async function search(
  stage: Stage,
  changes: Partial<SandboxSpec>,
  folders: readonly string[],
): Promise<Verdict> {
  await using sandbox = await stage.sandbox(changes);
  const script = `find -L ${folders.join(' ')} -type f 2> /dev/null | while read -r file; do zcat -f "$file"; done; echo all`;
  const { output } = await stage.shell(script, { sandbox, timeoutMs: 60_000 });
  if (!output.endsWith('all\n')) throw new Error(`the search did not end: ${output.slice(-200)}`);
  return stage.isSecret(output) ? worked('a copy of it') : held('nothing of it is inside');
}

/** A package with a task's hidden files in these folders of the system; removed afterwards. */
async function installedIn(stage: Stage, parents: readonly string[], isConcealed: boolean): Promise<Verdict> {
  if (process.getuid?.() !== 0) return skipped('only root can install there');
  const folders: string[] = [];
  try {
    for (const parent of parents) {
      const folder = mkdtempSync(join(parent, 'mlab-adversary-'));
      folders.push(folder);
      mkdirSync(join(folder, 'tasks/digits/hidden'), { recursive: true });
      writeFileSync(join(folder, 'tasks/digits/hidden/grade.py'), stage.secret);
    }
    return await search(stage, { concealed: isConcealed ? folders : [] }, folders);
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
}

/** An installation of Python with a file in it. */
function installation(stage: Stage, files: Record<string, string | Uint8Array>): SandboxSpec['python'] {
  for (const [path, content] of Object.entries({ 'lib/python3.11/os.py': '', 'bin/python3': '', ...files })) {
    stage.file(`prefix/${path}`, content);
  }
  stage.file('venv/pyvenv.cfg', '');
  return { basePrefix: join(stage.folder, 'prefix'), environment: join(stage.folder, 'venv') };
}

const contentsOf = (...contents: (string | Uint8Array)[]) =>
  contents.map((content) => ({ bytes: Buffer.byteLength(content), sha256: sha256(content) }));

export default [
  attack({
    title: 'reads a package that was installed below /usr, where package managers put it',
    run: (stage) =>
      installedIn(
        stage,
        ['/usr/lib', '/usr/share', '/usr/local', '/usr/local/lib', '/usr/local/share', '/usr/src'],
        false,
      ),
  }),
  attack({
    title: "reads the harness's own package in a folder that is shown",
    run: (stage) =>
      installedIn(stage, ['/usr/bin', '/usr/local/bin', '/usr/include', '/usr/share/zoneinfo'], true),
  }),
  attack({
    title: "reads copies of data in pkgs, envs and site-packages of Python's installation",
    run: (stage) => {
      const places = [
        'pkgs/a',
        'envs/a/lib',
        'lib/python3.11/site-packages/a',
        'conda-meta',
        'share/a',
        'lib/a',
        'a',
      ];
      const python = installation(
        stage,
        Object.fromEntries(places.map((place) => [`${place}/x`, stage.secret])),
      );
      return search(stage, { python }, [stage.folder]);
    },
  }),
  attack({
    title: "reads a withheld file's copies: renamed, linked, unpacked, compressed otherwise",
    run: (stage) => {
      const file = gzipSync(stage.secret);
      const python = installation(stage, {
        'lib/python3.11/a': stage.secret,
        'bin/b': file,
        'include/c.h': file,
      });
      const copy = stage.file('venv/lib/d.gz', gzipSync(stage.secret, { level: 0 }));
      linkSync(copy, join(stage.folder, 'venv/lib/e.gz'));
      symlinkSync(copy, join(stage.folder, 'venv/lib/f'));
      stage.file('data/copy.csv', stage.secret);
      const changes = { python, withheld: contentsOf(file, stage.secret) };
      return search(stage, changes, [stage.folder, '/workspace']);
    },
  }),
  attack({
    title: 'reads what lies beside a folder that is mounted out of the cache or the store',
    run: (stage) => {
      stage.file('cache/data/public/train.csv', 'id\n');
      stage.file('cache/data/private/labels.csv', stage.secret);
      const cache = join(stage.folder, 'cache');
      const mounts = [
        { source: join(cache, 'data/public'), target: '/data', access: 'read' as const },
        { source: join(stage.folder, 'cache'), target: '/all', access: 'read' as const },
      ];
      return search(
        stage,
        { mounts: [...stage.spec().mounts, ...mounts], concealed: [join(cache, 'data/private')] },
        ['/data', '/all'],
      );
    },
  }),
];
