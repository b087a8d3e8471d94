import { attack, held, worked } from '../attack.ts';

const search = `import os, re
pattern = re.compile(b"planted-secret-[0-9a-f]{32}")
for folder, _, files in os.walk("/"):
    if folder.startswith(("/proc", "/sys", "/dev", "/usr/share", "/usr/lib/x86", "/usr/include")): continue
    for name in files:
        try:
            with open(os.path.join(folder, name), "rb") as file:
                found = pattern.search(file.read(2**20))
        except OSError:
            continue
        if found: print("found", os.path.join(folder, name), found.group().decode())
print('searched all')
`;

export default [
  attack({
    title: "looks for the task's hidden files and data in every file that a run can read",
    long: true,
    seconds: 120,
    run: async (stage) => {
      const task = await stage.task({
        'hidden/notes.txt': stage.secret,
        'hidden/grade.py': `# ${stage.secret}\n`,
      });
      const write = { name: 'Write File', args: { file_name: 'search.py', content: search } };
      const { observations } = await stage.run([write, 'python3 search.py'], task);
      const said = observations.join('\n');
      if (!said.includes('searched all')) throw new Error('the search did not end');
      return stage.isSecret(said) ? worked('a hidden file is in view') : held('nothing of them is inside');
    },
  }),
  attack({
    title: "reads a data file that is covered, through the folder's listing and /proc",
    worksUnconfined: true,
    run: async (stage) => {
      const { output } = await stage.shell(
        'cat data/hidden.csv /proc/self/cwd/data/hidden.csv /proc/1/root/workspace/data/hidden.csv; ls -la data',
      );
      return stage.isSecret(output) ? worked('its content') : held('it is empty where it is seen');
    },
  }),
];
