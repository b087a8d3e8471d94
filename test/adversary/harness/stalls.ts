import { type AttackFields, attack, held, worked } from '../attack.ts';

const timeoutMs = 6_000;
const mebibyte = 2 ** 20;
/** Closer to the limits of a run than those of other attacks. */
const limits = {
  memoryBytes: 1024 * mebibyte,
  processes: 512,
  fileBytes: 64 * mebibyte,
  temporaryBytes: 16 * mebibyte,
};

/** A command during and after which the harness must serve others: its event loop must not be blocked for long. */
function stalling(title: string, source: string, more: Partial<AttackFields> = {}) {
  return attack({
    title,
    long: true,
    seconds: 90,
    ...more,
    run: async (stage) => {
      const watch = { folder: stage.workspace, maxBytes: 512 * mebibyte };
      await using sandbox = await stage.sandbox({ limits, watch });
      const allowance = await stage.allowance(sandbox);
      let last = performance.now();
      let longest = 0;
      const timer = setInterval(() => {
        const now = performance.now();
        longest = Math.max(longest, now - last);
        last = now;
      }, 20);
      try {
        const start = performance.now();
        const { output, ending } = await stage.python(`import mmap, os, sys, time\n${source}`, {
          timeoutMs,
          sandbox,
        });
        if (/SyntaxError|NameError/.test(output)) throw new Error(output);
        const late = performance.now() - start - timeoutMs;
        if (late > 7_000 + allowance) return worked(`it ended ${(late / 1000).toFixed(1)} s after its time`);
        const next = await stage.shell('echo well', { sandbox });
        if (!next.output.includes('well')) return worked(`the next command said: ${next.output}`);
        if (longest > 2_000) return worked(`the harness had no turn for ${(longest / 1000).toFixed(1)} s`);
        return held(`${ending}; no turn for ${Math.round(longest)} ms`);
      } finally {
        clearInterval(timer);
      }
    },
  });
}

export default [
  stalling(
    'gives the harness as many open files to look at as it can',
    `file = os.open("x", os.O_RDWR | os.O_CREAT)
try:
    while True: os.dup(file)
except OSError: pass
try:
    while os.fork() > 0: pass
except OSError: pass
time.sleep(60)`,
  ),
  stalling(
    'gives the harness folders full of other names of one file',
    `for folder in range(1000):
    os.mkdir(f"d{folder}"); open(f"d{folder}/a", "w").close()
    for name in range(10_000): os.link(f"d{folder}/a", f"d{folder}/{name}")`,
  ),
  stalling(
    'gives the harness processes of many pieces of memory that they share',
    `held = [mmap.mmap(-1, 4096, prot=mmap.PROT_READ | (number % 2) * mmap.PROT_WRITE) for number in range(20_000)]
shared = mmap.mmap(-1, 2**24); shared.write(b"x" * 2**24)
for _ in range(36):
    if os.fork() == 0: sum(shared[::4096]); time.sleep(60)
time.sleep(60)`,
  ),
  stalling(
    'gives the harness folders to look into that come and go',
    `
for number in range(8):
    if os.fork() == 0:
        while True:
            try: os.makedirs(f"{number}/a/b/c", exist_ok=True); os.rename(f"{number}/a", f"{number}/z"); os.removedirs(f"{number}/z/b/c")
            except OSError: pass
time.sleep(60)`,
  ),
  stalling(
    'prints single bytes and broken characters as fast as it can',
    `
while True: os.write(1, b"\\xf0\\x9f"); os.write(1, b"x")`,
  ),
];
