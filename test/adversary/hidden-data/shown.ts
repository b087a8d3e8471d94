import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { attack, held, worked } from '../attack.ts';

export default [
  attack({
    title: 'is a command that names a hidden file of its task, so that it is shown it',
    long: true,
    seconds: 60,
    scope: 'host',
    run: async (stage) => {
      const { task } = await stage.task({ 'hidden/notes.txt': stage.secret });
      const agent = `command:cp ${join(task.folder, 'hidden/notes.txt')} copied.txt`;
      const argv = ['run', '--task', task.folder, '--agent', agent, '--model', 'openai-compatible/m'];
      const { code, err } = await stage.mlab(argv, { MLAB_OPENAI_COMPATIBLE_URL: 'http://127.0.0.1:1' });
      const store = join(stage.folder, 'experiments');
      const files = readdirSync(store, { recursive: true, encoding: 'utf8' }).map((path) =>
        join(store, path),
      );
      const kept = files.filter(
        (path) => statSync(path).isFile() && stage.isSecret(readFileSync(path, 'latin1')),
      );
      if (kept.length > 0) return worked('it had the file in its workspace');
      if (!err.includes('infrastructure_error')) throw new Error(`exit code ${code}: ${err.slice(-300)}`);
      return held('it is refused');
    },
  }),
];
