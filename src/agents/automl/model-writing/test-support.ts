import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TaskBrief } from '../../../schema/index.ts';
import { askedTable, type Contract, contractScript, readContract } from './contract.ts';

/** The real `contract.py` about a data folder with these files, in a Python with these packages, which are empty. */
function found(task: TaskBrief, files: Record<string, string | Buffer>, packages = ['numpy', 'sklearn']) {
  const folder = mkdtempSync(join(tmpdir(), 'contract-'));
  const write = (path: string, text: string | Buffer) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  try {
    for (const [name, text] of Object.entries(files)) write(join('data', name), text);
    for (const name of packages) write(join('packages', name, '__init__.py'), '');
    const file = askedTable(task);
    if (file === null) throw new Error('the task asks for no table');
    write('look.py', contractScript(task, file));
    const env = { ...process.env, PYTHONPATH: join(folder, 'packages') };
    // -S: without the packages of the machine.
    const done = spawnSync('python3', ['-S', 'look.py'], { cwd: folder, encoding: 'utf8', env });
    if (done.stderr !== '') throw new Error(done.stderr);
    return readContract(done.stdout);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export function contractOf(...given: Parameters<typeof found>): Contract {
  const contract = found(...given);
  if ('problem' in contract) throw new Error(contract.problem);
  return contract;
}

export const settingsOf = (...given: Parameters<typeof found>) => contractOf(...given).settings;

export function problemOf(...given: Parameters<typeof found>): string {
  const contract = found(...given);
  return 'problem' in contract ? contract.problem : 'none';
}

export const homes = {
  'train.csv': 'id,size,town,y\n1,10,A,100\n2,20,B,200.5\n3,30,,300\n',
  'test.csv': 'id,size,town\n4,10,A\n5,20,B\n',
  'sample_submission.csv': 'id,y\n4,0\n5,0\n',
};
export const review = 'this film is one of the best that i have ever seen in my life';
export const reviews = {
  'train.csv': `text,label\n${review},1\n${review} not,0\n${review} yes,1\n`,
  'test.csv': `id,text\n1,${review}\n`,
};

export const withPictures = ['numpy', 'sklearn', 'PIL'];
export const pictures = {
  'test.csv': 'id,name\n1,x\n',
  ...Object.fromEntries(
    ['known/a/k', 'known/a/l', 'known/b/m', 'asked/x'].map((name) => [`${name}.png`, '']),
  ),
};
