import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { RunFolder } from '../../../src/store/index.ts';
import { type AttackFields, attack, held, type Verdict, worked } from '../attack.ts';
import type { Stage } from '../stage.ts';

/** The arguments with which the command line finds a run: the folder of its experiments, and its name. */
function recorded({ folder, id }: RunFolder): { name: string; where: string[] } {
  return { name: `place/${id}`, where: ['--dir', dirname(dirname(dirname(folder)))] };
}

/**
 * A run leaves this in its workspace; users restore and export it on the host.
 * @param look at the folder to which it was restored
 */
function leaving(
  title: string,
  script: string,
  look: (folder: string, stage: Stage) => Verdict | Promise<Verdict>,
  more: Partial<AttackFields> = {},
) {
  return attack({
    title,
    long: true,
    seconds: 60,
    ...more,
    run: async (stage) => {
      const { folder } = await stage.run([script]);
      const { name, where } = recorded(folder);
      const before = JSON.stringify(readdirSync(stage.vault));
      for (const argv of [
        ['runs', 'restore', name, '1', 'restored', ...where],
        ['runs', 'export', name, '--to', 'git', '--out', 'exported', ...where],
      ]) {
        const { code, out, err } = await stage.mlab(argv);
        if (code === 4 || code === null)
          return worked(`${argv.join(' ')}: exit code ${code}: ${err.slice(0, 200)}`);
        if (/ --help/.test(err)) throw new Error(err);
        if (`${out}${err}`.includes('\u001b]')) return worked('it printed an escape raw');
      }
      if (JSON.stringify(readdirSync(stage.vault)) !== before) return worked('it wrote outside');
      if (readFileSync(join(stage.vault, 'secret.txt'), 'utf8') !== `${stage.secret}\n`)
        return worked('it changed a file outside');
      return look(join(stage.folder, 'restored'), stage);
    },
  });
}

/** Every entry below a folder that is not a file, folder or link, or that is setuid or setgid. */
function oddEntries(folder: string): string[] {
  return readdirSync(Buffer.from(folder), { withFileTypes: true, encoding: 'buffer' }).flatMap((entry) => {
    const path = `${folder}/${entry.name.toString('latin1')}`;
    if (entry.isDirectory()) return oddEntries(path);
    const stat = lstatSync(Buffer.concat([Buffer.from(`${folder}/`), entry.name]));
    return (stat.isFile() || stat.isSymbolicLink()) && (stat.mode & 0o6000) === 0 ? [] : [path];
  });
}

const plain = (folder: string): Verdict => {
  if (!existsSync(folder)) return worked('nothing was restored');
  const odd = oddEntries(folder);
  return odd.length === 0 ? held('files, folders and links') : worked(odd.join(', '));
};

/** The cells of CSV, without their quotes. */
function cellsOf(text: string): string[] {
  return [...text.matchAll(/"((?:[^"]|"")*)"|[^,\n]+/g)].map((found) => found[1] ?? found[0]);
}

export default [
  leaving(
    'leaves pipes, sockets and devices to be restored',
    'mkfifo pipe; mknod zero c 1 5; python3 -c "import socket; socket.socket(socket.AF_UNIX).bind(\'sock\')"; true',
    plain,
  ),
  leaving(
    'leaves files that run as their owner to be restored',
    'cp /bin/sh shell; chmod 6755 shell; chmod 755 shell; true',
    plain,
  ),
  leaving(
    'leaves a link in the place of a folder to be restored through',
    'ln -s ../vault out; mkdir -p a; ln -s ../../vault a/b; ln -s /etc/passwd passwd; ln -s . self; true',
    plain,
  ),
  leaving(
    'leaves names of every kind to be restored and printed',
    `python3 -c "
import os
for name in (b'\\xff\\xfe', b'a\\nb', b'\\x1b]0;planted\\x07', b'-rf', b'..x', b' ', b'CON', b'x' * 255, b'a\\\\b', b'\\xe2\\x80\\xae'):
    open(name, 'w').close()
"`,
    plain,
  ),
  leaving(
    'leaves a repository whose settings run a command',
    'git init -q . 2>/dev/null || mkdir -p .git/hooks; printf "[core]\\n\\tfsmonitor = touch ../planted\\n" > .git/config; mkdir -p sub/.GIT bare/hooks; echo x > sub/.GIT/config; echo "ref: refs/heads/x" > bare/HEAD; mkdir -p bare/objects bare/refs; echo x > bare/config; true',
    (folder) => {
      const left = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
        /(^|\/)(\.git|HEAD|hooks)(\/|$)/i.test(path),
      );
      return left.length === 0 ? held('it was left out') : worked(left.join(', '));
    },
  ),
  attack({
    title: 'has a run restored through a link that lies at its target',
    long: true,
    run: async (stage) => {
      const { folder } = await stage.run(['echo planted > planted']);
      const { name, where } = recorded(folder);
      mkdirSync(join(stage.folder, 'empty'));
      symlinkSync(stage.vault, join(stage.folder, 'link'));
      for (const target of ['link', 'link/inner', 'vault'])
        await stage.mlab(['runs', 'restore', name, '1', target, ...where]);
      const names = readdirSync(stage.vault);
      return names.includes('planted')
        ? worked('it was restored over what lay there')
        : held('only into an empty folder');
    },
  }),
  attack({
    title: 'writes a formula into a table that is exported',
    long: true,
    run: async (stage) => {
      const { folder } = await stage.run([
        `echo '=cmd|" /C calc"!A0'; echo '@SUM(1)'`,
        `printf '=1+1' > '=1+1'`,
      ]);
      const { name, where } = recorded(folder);
      const { code, err } = await stage.mlab([
        'runs',
        'export',
        name,
        '--to',
        'csv',
        '--out',
        'tables',
        ...where,
      ]);
      if (code !== 0) throw new Error(err);
      const tables = join(stage.folder, 'tables');
      const files = readdirSync(tables, { encoding: 'utf8' }).filter((name) => name.endsWith('.csv'));
      const cells = files.flatMap((file) => cellsOf(readFileSync(join(tables, file), 'utf8')));
      const formula = cells.find((cell) => /^[=@]/.test(cell));
      return formula === undefined ? held(`${cells.length} cells`) : worked(formula);
    },
  }),
];
