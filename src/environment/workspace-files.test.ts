import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WorkspaceFiles, WorkspaceFull } from './workspace-files.ts';
import { PathFailed, PathRefused } from './workspace-path.ts';

const secret = 'the hidden label';
let place: string;
let workspace: string;
let files: WorkspaceFiles;

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'mlab-files-'));
  workspace = join(place, 'ws');
  for (const folder of ['ws/sub/deep', 'ws-other', 'data/inner', 'outputs'])
    mkdirSync(join(place, folder), { recursive: true });
  writeFileSync(join(workspace, 'train.py'), 'print(1)\n');
  writeFileSync(join(workspace, 'sub/a.txt'), 'a');
  writeFileSync(join(place, 'data/train.csv'), 'id\n1\n');
  writeFileSync(join(place, 'ws-other/secret.txt'), secret);
  writeFileSync(join(place, 'secret.txt'), secret);
  files = filesOf();
});

afterEach(() => rmSync(place, { recursive: true, force: true }));

function filesOf(changes: Partial<ConstructorParameters<typeof WorkspaceFiles>[0]> = {}): WorkspaceFiles {
  return new WorkspaceFiles({
    workspace,
    readOnly: { data: join(place, 'data'), '.outputs': join(place, 'outputs') },
    isReadOnly: (path) => path === 'frozen.py' || path.startsWith('lib/'),
    bytesLeft: () => 2 ** 20,
    ...changes,
  });
}

function read(path: string): string {
  return files.readWhole(path, 2 ** 20).toString();
}

function write(path: string, text = 'new'): undefined {
  files.write(path, Buffer.from(text), 'replace');
}

describe('paths', () => {
  test('a file is found by every way of writing its path', () => {
    for (const path of [
      'train.py',
      './train.py',
      'sub/../train.py',
      'sub//..//./train.py',
      '/workspace/train.py',
      '/workspace//sub/../train.py',
      'data/../train.py',
    ]) {
      expect(read(path)).toBe('print(1)\n');
      expect(files.pathOf(path)).toBe('train.py');
    }
  });

  test('a path that leaves the workspace is refused, also if it leads back', () => {
    for (const path of [
      '..',
      '../secret.txt',
      'sub/../../secret.txt',
      '../ws/train.py',
      '/etc/passwd',
      '/workspace/../etc/passwd',
      '/workspace-other/x',
      '/workspaces',
      '/',
      'data/../../secret.txt',
    ]) {
      expect(() => read(path), path).toThrow(PathRefused);
      expect(() => write(path), path).toThrow(PathRefused);
      expect(() => files.list(path), path).toThrow(PathRefused);
      expect(() => files.kindOf(path), path).toThrow(PathRefused);
    }
  });

  test("a folder whose name only starts with the workspace's name is outside", () => {
    expect(() => read('../ws-other/secret.txt')).toThrow(PathRefused);
    symlinkSync('../ws-other', join(workspace, 'other'));
    expect(() => read('other/secret.txt')).toThrow(PathRefused);
  });

  test('links are followed before a path is checked: those inside work, those that lead outside are refused', () => {
    symlinkSync('sub', join(workspace, 'near'));
    symlinkSync('/workspace/sub/a.txt', join(workspace, 'absolute'));
    symlinkSync('../secret.txt', join(workspace, 'out'));
    symlinkSync('/etc', join(workspace, 'etc'));
    symlinkSync(place, join(workspace, 'host'));
    expect(read('near/a.txt')).toBe('a');
    expect(files.pathOf('near/a.txt')).toBe('sub/a.txt');
    expect(read('absolute')).toBe('a');
    for (const path of ['out', 'etc/passwd', 'host/secret.txt', 'near/../../secret.txt'])
      expect(() => read(path), path).toThrow(PathRefused);
    expect(() => write('out')).toThrow(PathRefused);
    expect(readFileSync(join(place, 'secret.txt'), 'utf8')).toBe(secret);
  });

  test('".." after a link goes up from where the link leads', () => {
    symlinkSync('sub/deep', join(workspace, 'deep'));
    expect(files.pathOf('deep/../a.txt')).toBe('sub/a.txt');
  });

  test('circular links are refused, not followed forever', () => {
    symlinkSync('b', join(workspace, 'a'));
    symlinkSync('a', join(workspace, 'b'));
    symlinkSync('self/self', join(workspace, 'self'));
    for (const path of ['a', 'b/x', 'self']) expect(() => read(path)).toThrow('too many links');
  });

  test('a NUL character is refused, and too long a name is reported', () => {
    expect(() => read('train.py\0.txt')).toThrow(PathRefused);
    expect(() => read('x'.repeat(5000))).toThrow('too long');
    expect(() => write('x'.repeat(300))).toThrow('name is too long');
    expect(() => files.kindOf('x'.repeat(5000))).toThrow('too long');
  });

  test('names of JavaScript object properties are ordinary file names', () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      write(name, name);
      expect(read(name)).toBe(name);
    }
  });

  test('the data is found also where its folder on the host is reached through a link', () => {
    symlinkSync(join(place, 'data'), join(place, 'data-link'));
    files = filesOf({ readOnly: { data: join(place, 'data-link') } });
    expect(read('data/train.csv')).toBe('id\n1\n');
  });
});

describe('read-only files', () => {
  test('data and outputs can be read and listed, never written or removed, however the path is written', () => {
    symlinkSync('data', join(workspace, 'alias'));
    expect(read('data/train.csv')).toBe('id\n1\n');
    for (const path of [
      'data/train.csv',
      './data/train.csv',
      'sub/../data/new.csv',
      'alias/train.csv',
      'data',
    ]) {
      expect(() => write(path), path).toThrow(/read-only/);
      expect(() => files.remove(path), path).toThrow(/read-only/);
    }
    expect(() => write('.outputs/step-00001.txt')).toThrow(PathRefused);
    expect(readdirSync(join(place, 'data'))).toEqual(['inner', 'train.csv']);
  });

  test('a file that the task declares read-only is refused, however the path is written', () => {
    symlinkSync('frozen.py', join(workspace, 'alias'));
    for (const path of [
      'frozen.py',
      './frozen.py',
      '/workspace/frozen.py',
      'alias',
      'lib/new.py',
      'sub/../lib/x',
    ])
      expect(() => write(path), path).toThrow(PathRefused);
    write('frozen.py.txt');
    expect(existsSync(join(workspace, 'frozen.py'))).toBe(false);
  });

  test('a file that would exceed the size limit of the workspace is refused and leaves nothing behind', () => {
    files = filesOf({ bytesLeft: () => 10 });
    expect(() => write('big', 'x'.repeat(11))).toThrow(WorkspaceFull);
    expect(files.kindOf('big')).toBeNull();
    write('fits', 'x'.repeat(10));
    files = filesOf({ bytesLeft: () => 0 });
    write('fits', 'y'.repeat(10));
    expect(() => files.write('fits', Buffer.from('z'), 'append')).toThrow(WorkspaceFull);
    expect(read('fits')).toBe('y'.repeat(10));
  });
});

describe('other kinds of files', () => {
  test('a FIFO is reported at once and never waited for', () => {
    execFileSync('mkfifo', [join(workspace, 'pipe')]);
    expect(() => read('pipe')).toThrow('not a file');
    expect(() => write('pipe')).toThrow('not a file');
    expect(files.kindOf('pipe')).toBe('other');
  });

  test('a folder is distinguished from a file', () => {
    expect(() => read('sub')).toThrow('is not a file');
    expect(() => write('sub')).toThrow('is a folder');
    expect(() => write('')).toThrow('is a folder');
    expect(() => files.list('train.py')).toThrow('not a folder');
    expect(() => read('train.py/x')).toThrow('not a folder');
  });

  test('a missing file is reported with the whole path', () => {
    expect(() => read('sub/none.txt')).toThrow('sub/none.txt does not exist');
    expect(() => files.list('none')).toThrow('none does not exist');
  });
});

test('missing folders of a new file are created', () => {
  write('new/folder/file.txt', 'x');
  expect(readFileSync(join(workspace, 'new/folder/file.txt'), 'utf8')).toBe('x');
});

test('a listing marks folders and links, and shows mounted folders once and only if they are not empty', () => {
  symlinkSync('sub', join(workspace, 'near'));
  mkdirSync(join(workspace, 'data'));
  mkdirSync(join(workspace, '.outputs'));
  expect(files.list('.')).toEqual(['data/', 'near@', 'sub/', 'train.py']);
  expect(files.list('data')).toEqual(['inner/', 'train.csv']);
  expect(files.list('near')).toEqual(['a.txt', 'deep/']);
});

test('a large file is read at its head and tail only', () => {
  writeFileSync(join(workspace, 'large'), `head${'x'.repeat(10_000)}tail`);
  const { head, tail, size } = files.read('large', 100);
  expect([head.length, tail.length, size]).toEqual([100, 100, 10_008]);
  expect(head.toString().startsWith('head') && tail.toString().endsWith('tail')).toBe(true);
  expect(() => files.readWhole('large', 100)).toThrow('too large');
});

test('nothing outside is read or written while another process constantly swaps a folder for a link', async () => {
  // Another process, like a daemon of an agent.
  const swapper = spawn(
    'python3',
    [
      '-c',
      `import os
os.chdir(${JSON.stringify(workspace)})
os.mkdir("swap"); open("swap/secret.txt", "w").write("harmless")
os.symlink("..", "link")
print("go", flush=True)
while True:
    try:
        os.rename("swap", "aside"); os.rename("link", "swap")
        os.rename("swap", "link"); os.rename("aside", "swap")
    except OSError:  # The other side made a folder where none was for a moment.
        os.system("(rm -rf swap link aside; mkdir -p swap; ln -s .. link; echo harmless > swap/secret.txt) 2> /dev/null")`,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  try {
    await new Promise((resolve) => swapper.stdout.once('data', resolve));
    const answers = new Set<string>();
    for (let attempt = 0; attempt < 500; attempt += 1) {
      for (const act of [() => read('swap/secret.txt'), () => write('swap/secret.txt', 'harmless')]) {
        try {
          answers.add(act() ?? 'written');
        } catch (error) {
          if (!(error instanceof PathFailed || error instanceof PathRefused)) throw error;
          answers.add(error.name);
        }
      }
    }
    expect([...answers].filter((answer) => answer.includes('hidden'))).toEqual([]);
    expect(readFileSync(join(place, 'secret.txt'), 'utf8')).toBe(secret);
  } finally {
    swapper.kill('SIGKILL');
  }
});

test('no path opens anything outside the roots', () => {
  symlinkSync('..', join(workspace, 'up'));
  symlinkSync('/etc/hostname', join(workspace, 'abs'));
  symlinkSync('/workspace/up', join(workspace, 'loop'));
  symlinkSync('up/secret.txt', join(workspace, 'sub/through'));
  const part = fc.oneof(
    fc.constantFrom(
      '..',
      '.',
      '',
      'sub',
      'up',
      'abs',
      'loop',
      'data',
      'inner',
      'through',
      'secret.txt',
      'ws',
    ),
    fc.constantFrom('train.py', 'a.txt', 'deep', '/workspace', '/', 'etc', 'proc', 'self', 'root', '\0', 'é'),
    fc.string({ maxLength: 6 }),
  );
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 8 }), fc.boolean(), (parts, absolute) => {
      const path = (absolute ? '/' : '') + parts.join('/');
      for (const act of [
        () => read(path),
        () => files.list(path).join(),
        () => files.pathOf(path),
        () => String(files.kindOf(path)),
        () => write(path, 'w'),
      ]) {
        try {
          const answer = act() ?? '';
          expect(answer).not.toContain('hidden');
          // It is beside the workspace, and has the only name that no path of this test can create inside.
          expect(answer).not.toContain('ws-other');
        } catch (error) {
          if (!(error instanceof PathFailed || error instanceof PathRefused)) throw error;
        }
      }
    }),
    { numRuns: 300 },
  );
  expect(readFileSync(join(place, 'secret.txt'), 'utf8')).toBe(secret);
  expect(readdirSync(place).sort()).toEqual(['data', 'outputs', 'secret.txt', 'ws', 'ws-other']);
  expect(readFileSync(join(place, 'data/train.csv'), 'utf8')).toBe('id\n1\n');
});
