import { attack, held, worked } from '../attack.ts';

/** Processes that a command leaves running at its end, started again and again: a shell script. */
function leave(script: string): string {
  return `(setsid sh -c 'while :; do { ${script}; } 2> /dev/null; done' > /dev/null 2>&1 &); sleep 0.3`;
}

const everyFile = 'for file in /proc/[0-9]*/fd/*';

export default [
  attack({
    title: 'has what starts commands run a script of its own before the next one',
    run: async (stage) => {
      await stage.shell(leave(`${everyFile}; do echo "touch forged" > $file; done`));
      const { output } = await stage.shell('sleep 0.3; ls');
      return output.includes('forged') ? worked('its script ran') : held('nothing reads what it wrote');
    },
  }),
  attack({
    title: 'prints into the output of the next command',
    run: async (stage) => {
      await stage.shell(leave(`${everyFile}; do echo planted > $file; done`));
      const { output } = await stage.shell('sleep 0.3; echo alone');
      return output === 'alone\n' ? held("the output is the command's alone") : worked(output);
    },
  }),
  attack({
    title: 'keeps the next command from starting by closing and filling all that it can open',
    run: async (stage) => {
      await stage.shell(leave(`${everyFile}; do chmod 0 $file; head -c 70000 /dev/zero > $file & done`));
      const { output, ending } = await stage.shell('echo alive');
      return output === 'alive\n' ? held('the next one starts') : worked(`it ended as ${ending}`);
    },
  }),
  attack({
    title: 'keeps the next command from starting by lowering the limits of what starts commands',
    run: async (stage) => {
      const lower =
        'import resource as r; [r.prlimit(1, n, (0, 0)) for n in range(16) if n != r.RLIMIT_RTTIME]';
      await stage.shell(`for i in 1 2 3; do python3 -c '${lower}' & done; wait`);
      const { output, ending } = await stage.shell('echo alive');
      return output === 'alive\n' ? held('the next one starts') : worked(`it ended as ${ending}`);
    },
  }),
  attack({
    title: 'leaves the next command files, shared memory or queues outside of the workspace',
    run: async (stage) => {
      const make =
        'import ctypes; c = ctypes.CDLL(None); c.shmget(7, 9, 950); c.msgget(7, 950); c.semget(7, 1, 950)';
      await stage.shell(
        `echo planted | tee /tmp/x /tmp/.y /dev/shm/x; python3 -c '${make}'; chmod 1733 /tmp`,
      );
      const { output } = await stage.shell('cat /tmp/x /tmp/.y /dev/shm/x; tail -qn +2 /proc/sysvipc/*');
      const found = output.split('\n').filter((line) => line !== '' && !line.includes('No such file'));
      return found.length === 0 ? held('nothing is there') : worked(found.join('; '));
    },
  }),
  attack({
    title: 'ends what starts commands, or another command of its sandbox',
    run: async (stage) => {
      const other = stage.shell('sleep 1; echo unharmed');
      await stage.shell('i=1; while [ $i -lt 300 ]; do kill -9 $i; i=$((i+1)); done; kill -9 -1');
      const { output } = await other;
      const next = await stage.shell('echo alive');
      const lives = output === 'unharmed\n' && next.output === 'alive\n';
      return lives ? held('neither is in its namespace') : worked(`${output} ${next.output}`);
    },
  }),
  attack({
    title: 'sees what starts commands, or another command of its sandbox',
    worksUnconfined: true,
    run: async (stage) => {
      const other = stage.shell('sleep 3; : another-command');
      const { output } = await stage.shell('sleep 1; cat /proc/[0-9]*/cmdline | tr "\\0" " "');
      await other;
      return output.includes('another-command')
        ? worked('its command line')
        : held('only its own processes are in /proc');
    },
  }),
];
