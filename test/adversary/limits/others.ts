import { chmodSync, existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openWorkspaceVolume } from '../../../src/sandbox/index.ts';
import { type AttackFields, attack, held, worked } from '../attack.ts';
import type { Stage } from '../stage.ts';

/** The limit of the workspace is 128 MiB and that of a file 64 MiB; that of a command here is some seconds. */
const workspaceMiB = 128;
/**
 * For root the workspace is a file system of that size and a little more. For others the watchdog enforces the limit:
 * some data is written before its next check, and calls that have begun end only when their process is killed. On an
 * idle machine that is a few MiB; on one with ten times as much work as processors the watchdog checks later.
 */
const overshootMiB = { kernel: 64, watchdog: 192 };

/** The size of the workspace's files on the disk. */
function usedMiB(folder: Buffer): number {
  chmodSync(folder, 0o700);
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, encoding: 'buffer' })) {
    const path = Buffer.concat([folder, Buffer.from('/'), entry.name]);
    bytes += entry.isDirectory()
      ? 2 ** 20 * usedMiB(path)
      : 512 * (statSync(path, { throwIfNoEntry: false })?.blocks ?? 0);
  }
  return bytes / 2 ** 20;
}

/** Fills the workspace in a particular way; it worked if much more than the limit remains. */
function filling(title: string, source: string) {
  return attack({
    title,
    long: true,
    seconds: 60,
    run: async (stage) => {
      // As in runs.
      await using volume = await openWorkspaceVolume(stage.workspace, workspaceMiB * 2 ** 20);
      const { output, ending } = await stage.python(`import os, sys, time, subprocess\n${source}`);
      if (/SyntaxError|NameError/.test(output)) throw new Error(output);
      const used = usedMiB(Buffer.from(stage.workspace));
      if (used > workspaceMiB + overshootMiB[volume.holder])
        return worked(`${Math.round(used)} MiB of ${workspaceMiB}`);
      return held(`${volume.holder}: ${ending}, with ${Math.round(used)} MiB`);
    },
  });
}

const block = 'b"x" * 2**20';

/** A command that must be over, with all its processes, soon after its time limit. */
function ending(title: string, script: string, more: Partial<AttackFields> = {}) {
  return attack({
    title,
    long: true,
    seconds: 60,
    ...more,
    run: async (stage) => {
      const allowance = await stage.allowance();
      const start = performance.now();
      const { ending } = await stage.shell(script, { timeoutMs: 1_500 });
      const seconds = (performance.now() - start) / 1000;
      if (seconds > 8.5 + allowance / 1000) return worked(`it ended after ${seconds.toFixed(1)} s`);
      return (await isAlive(stage))
        ? worked('a process of it lives on')
        : held(`${ending}, ${seconds.toFixed(1)} s`);
    },
  });
}

/** Whether something still writes `alive` in the workspace. */
async function isAlive({ workspace }: Stage): Promise<boolean> {
  const file = join(workspace, 'alive');
  if (!existsSync(file)) return false;
  const { size } = statSync(file);
  await sleep(500);
  return statSync(file).size !== size;
}

const lives = 'while :; do printf x >> alive; sleep 0.05; done';
const deaf = "trap '' HUP INT QUIT TERM USR1 USR2 PIPE ALRM";

export default [
  filling('fills the workspace with one file', `f = open("x", "wb")\nwhile True: f.write(${block})`),
  filling('fills the workspace with many files', `for i in range(2000): open(f"x{i}", "wb").write(${block})`),
  filling(
    'fills the workspace with files whose names are no text',
    `for i in range(600): open(b"\\xff" + str(i).encode(), "wb").write(${block})`,
  ),
  filling(
    'fills a folder that nobody may look into',
    `os.mkdir("shut"); f = os.open("shut", os.O_RDONLY)\nopener = lambda p, fl: os.open(p, fl, dir_fd=f)\nos.chmod("shut", 0o300)\nfor i in range(600): open(f"x{i}", "wb", opener=opener).write(${block})`,
  ),
  filling(
    'fills a folder and shuts it',
    `os.mkdir("shut")\nfor i in range(100): open(f"shut/x{i}", "wb").write(${block})\nos.chmod("shut", 0)\nos.mkdir("more")\nfor i in range(600): open(f"more/x{i}", "wb").write(${block})`,
  ),
  filling(
    'fills a folder 500 deep',
    `for i in range(500):\n    os.mkdir("d"); os.chdir("d"); open("x", "wb").write(${block})`,
  ),
  filling(
    'fills the workspace with removed files that are open',
    `held = []\nfor i in range(600):\n    f = open("x", "wb"); os.remove("x"); f.write(${block}); f.flush(); held.append(f)\nprint("REACHED"); time.sleep(3)`,
  ),
  filling(
    'fills the workspace from many processes at once',
    `for n in range(20):\n    if os.fork() == 0:\n        for i in range(100): open(f"{n}-{i}", "wb").write(${block})\n        os._exit(0)\ntime.sleep(8)`,
  ),
  filling(
    'fills the workspace in one call of each of many processes',
    `block = b"x" * 2**26\nfor n in range(30):\n    if os.fork() == 0:\n        f = os.open(f"{n}", os.O_WRONLY | os.O_CREAT); os.write(f, block); os._exit(0)\ntime.sleep(8)`,
  ),
  filling(
    'fills the workspace while every processor is busy',
    `for n in range(30):\n    if os.fork() == 0:\n        while True: pass\ntime.sleep(0.5)\nfor i in range(600): open(f"x{i}", "wb").write(${block})`,
  ),
  filling(
    'fills a workspace of many files, which take long to count',
    `for i in range(20000): open(f"s{i}", "w").close()\ntime.sleep(1)\nfor i in range(600): open(f"x{i}", "wb").write(${block})`,
  ),
  filling(
    'fills the workspace by allocating without writing',
    'for i in range(600):\n    f = os.open(f"x{i}", os.O_RDWR | os.O_CREAT); os.posix_fallocate(f, 0, 2**20)',
  ),
  filling(
    'fills the workspace with 40,000 small files',
    'for i in range(40000): open(f"s{i}", "w").write("x")',
  ),
  filling(
    'fills the workspace by copying within the kernel',
    `open("one", "wb").write(${block} * 32)\nfor i in range(20):\n    a, b = open("one", "rb"), open(f"c{i}", "wb")\n    os.sendfile(b.fileno(), a.fileno(), 0, 2**25)`,
  ),
  filling(
    'fills the workspace and moves it about while it is measured',
    `if os.fork() == 0:\n    while True:\n        try: os.rename("a", "b"); os.rename("b", "a")\n        except OSError: pass\nos.makedirs("a", exist_ok=True)\nfor i in range(600):\n    for d in ("a", "b"):\n        try: open(f"{d}/x{i}", "wb").write(${block}); break\n        except OSError: pass`,
  ),
  filling(
    'fills the workspace through links to the same folder',
    `os.mkdir("real"); os.symlink("real", "link")\nfor i in range(600): open(f"link/x{i}", "wb").write(${block})`,
  ),

  ending('sleeps past its time', 'sleep 600'),
  ending('is deaf to the end of its time', `${deaf}; ${lives}`),
  ending('leaves a daemon behind at once', `(setsid sh -c "${lives}" >/dev/null 2>&1 &); exit 0`),
  ending(
    'leaves a daemon behind that changed its name, group and output',
    `${deaf}; (setsid setsid sh -c "exec >&- 2>&- </dev/null; ${lives}" &) ; sleep 600`,
  ),
  ending('stops itself past its time', `(setsid sh -c "${lives}" &); kill -STOP $$`),
  ending('stops all that it can', `sleep 600 & kill -STOP -1; kill -STOP $$`),
  ending(
    'spins in many processes',
    'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do (while :; do :; done) & done; wait',
  ),
  ending(
    'forks faster than it can be ended',
    `python3 -c '
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    try:
        if os.fork() > 0 and os.getpid() > 40: os._exit(0)
    except OSError: pass'`,
  ),
  ending('keeps its output open after its end', '(sleep 30 &) ; exit 0'),
  ending(
    'takes the alarm and the clock for itself',
    `python3 -c 'import signal, time
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001); signal.signal(signal.SIGALRM, lambda *_: None)
while True: time.sleep(1)'`,
  ),
  attack({
    title: 'writes a file beyond the size of one file',
    run: async (stage) => {
      const { output } = await stage.shell(
        'head -c 90000000 /dev/zero > x; truncate -s 900M y; stat -c %s x y',
      );
      return /\b(9\d{7}|\d{9,})\b/.test(output) ? worked(output) : held('EFBIG');
    },
  }),
  attack({
    title: 'starts more processes than it may',
    long: true,
    run: async (stage) => {
      const source = `import os, time
count = 0
for _ in range(200):
    try:
        if os.fork() == 0: time.sleep(6); os._exit(0)
        count += 1
    except OSError: break
time.sleep(1.5)
alive = sum(name.isdigit() for name in os.listdir("/proc"))
print("ALIVE", alive)`;
      const { output, ending } = await stage.python(source);
      const alive = Number(/ALIVE (\d+)/.exec(output)?.[1] ?? 0);
      return alive > 80 ? worked(`${alive} at one time, of 40`) : held(`${ending}, ${alive} at one time`);
    },
  }),
];
