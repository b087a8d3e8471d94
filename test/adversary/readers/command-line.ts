import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type AttackFields, attack, held, worked } from '../attack.ts';
import type { Stage } from '../stage.ts';

/** The exit code of the command line for its own bugs. */
const bug = 4;
const escapeCode = '\u001b';

/** Creates hostile files and makes a command read them: it must end soon, with a sentence, and reveal no secret. */
function reading(
  title: string,
  argv: string[],
  lay: (stage: Stage, folder: string) => void,
  more: Partial<AttackFields> = {},
) {
  return attack({
    title,
    scope: 'host',
    long: true,
    seconds: 40,
    ...more,
    run: async (stage) => {
      const folder = join(stage.folder, 'tasks', 'hostile');
      mkdirSync(folder, { recursive: true });
      lay(stage, folder);
      const { code, out, err } = await stage.mlab(argv);
      const said = out + err;
      if (/ --help/.test(err)) throw new Error(err);
      if (stage.isSecret(said)) return worked('it told the secret');
      if (said.includes(escapeCode)) return worked('it printed an escape raw');
      if (code === bug || code === null) return worked(`exit code ${code}: ${said.slice(-200)}`);
      return held(`exit code ${code}: ${said.trim().split('\n').at(-1) ?? ''}`);
    },
  });
}

const show = ['tasks', 'show', 'hostile', '--task-dir', 'tasks'];
const imports = ['runs', 'import', 'tasks/hostile', '--from', 'mlagentbench'];
const yaml = (content: string) => (stage: Stage) => void stage.file('tasks/hostile/task.yaml', content);
const laughs = `a: &a [x,x,x,x,x,x,x,x,x]\n${[...'bcdefghij']
  .map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghi'[index]}`).join(',')}]`)
  .join('\n')}\n`;

const pipe = (path: string) => {
  spawnSync('mkfifo', [path]);
};

export default [
  reading('lets a task.yaml grow by aliases', show, yaml(laughs)),
  reading('nests a task.yaml 100,000 deep', show, yaml('['.repeat(100_000))),
  reading(
    'nests a task.yaml by blocks',
    show,
    yaml(Array.from({ length: 3_000 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')),
  ),
  reading(
    'names keys of a task.yaml as parts of objects',
    show,
    yaml('__proto__: { x: 1 }\nconstructor: { prototype: { y: 1 } }\n'),
  ),
  reading('writes escapes into a title', show, yaml(`title: "\\e]0;planted\\a"\nid: "\\e[2J"\n`)),
  reading(
    'runs a tag of a task.yaml',
    show,
    yaml('title: !!js/function "function () { process.exit(0) }"\n'),
  ),
  reading('makes a pipe of a task.yaml', show, (_, folder) => pipe(join(folder, 'task.yaml'))),
  reading('links a task.yaml to a device without end', show, (_, folder) =>
    symlinkSync('/dev/zero', join(folder, 'task.yaml')),
  ),
  reading('imports a link to a secret', imports, (stage, folder) => {
    mkdirSync(join(folder, 'agent_log'), { recursive: true });
    mkdirSync(join(folder, 'env_log'), { recursive: true });
    symlinkSync(join(stage.vault, 'secret.txt'), join(folder, 'agent_log/main_log'));
    symlinkSync(join(stage.vault, 'secret.txt'), join(folder, 'env_log/trace.json'));
  }),
  reading('imports pipes and devices', imports, (_, folder) => {
    for (const name of ['agent_log', 'env_log']) mkdirSync(join(folder, name), { recursive: true });
    pipe(join(folder, 'env_log/trace.json'));
    symlinkSync('/dev/zero', join(folder, 'agent_log/main_log'));
    symlinkSync('/', join(folder, 'env_log/traces'));
  }),
  reading('imports a trace of 4 GiB that comes as 4 MiB', imports, (stage) => {
    const member = gzipSync(Buffer.alloc(2 ** 27));
    stage.file('tasks/hostile/trace.json.gz', Buffer.concat(Array.from({ length: 32 }, () => member)));
    stage.file('tasks/hostile/calls.jsonl.gz', Buffer.concat(Array.from({ length: 32 }, () => member)));
  }),
  reading('imports workspaces of links, pipes and devices', imports, (stage, folder) => {
    const inner = join(folder, 'env_log/traces/step_0_files/inner');
    mkdirSync(inner, { recursive: true });
    symlinkSync(join(stage.vault, 'secret.txt'), join(inner, 'link'));
    symlinkSync(stage.vault, join(folder, 'env_log/traces/step_1_files'));
    symlinkSync('/dev/zero', join(inner, 'zero'));
    pipe(join(inner, 'pipe'));
  }),
  reading('imports a trace that is nested 200,000 deep', imports, (stage) => {
    stage.file('tasks/hostile/env_log/trace.json', '['.repeat(200_000));
    stage.file('tasks/hostile/agent_log/main_log', 'Step 0:\n');
  }),
];
