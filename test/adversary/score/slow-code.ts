import { codeTask, good } from '../code-task.ts';
import { submissionAttacks, type Trick } from '../submissions.ts';

const slow = (title: string, start: string, call = 'return 0'): Trick => ({
  title,
  source: `import os, sys, time, socket, signal, threading\n${start}\ndef double(x):\n    ${call}\n`,
});

/** Each takes up to the limits of one call (2 s), of an import (3 s) or of a grading (5 s). */
export const slowTricks: Trick[] = [
  slow('sleeps just below the limit of each call', '', 'time.sleep(1.8); return 0'),
  slow('sleeps just below the limit of an import', 'time.sleep(2.8)'),
  slow('sleeps just below both limits', 'time.sleep(2.8)', 'time.sleep(1.8); return 0'),
  slow('never ends its import', 'while True: pass'),
  slow('never ends a call', '', 'while True: pass'),
  slow(
    'never ends, deaf to signals',
    'for n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\nwhile True: time.sleep(1)',
  ),
  slow('stops itself', '', 'os.kill(os.getpid(), signal.SIGSTOP); return 0'),
  slow(
    'stops all its processes, one after another',
    'if os.fork() == 0:\n    while True:\n        os.kill(os.getppid(), signal.SIGSTOP); time.sleep(0.01); os.kill(os.getppid(), signal.SIGCONT); time.sleep(0.01)',
  ),
  slow('forks without end', 'while True:\n    try: os.fork()\n    except OSError: pass'),
  slow('prints without end', 'while True: os.write(1, bytes(2**16))'),
  slow(
    'takes all memory, page by page, for ever',
    'held = []\nwhile True:\n    held.append(bytearray(2**16)); time.sleep(0.0001)',
  ),
  slow(
    'fills /tmp and goes on',
    'def fill():\n    while True:\n        try: open("/tmp/full", "ab").write(bytes(2**20))\n        except OSError: time.sleep(0.01)\nthreading.Thread(target=fill, daemon=True).start()',
    'time.sleep(1.5); return 0',
  ),
  slow(
    'waits in a thread that never ends',
    'threading.Thread(target=time.sleep, args=(600,)).start()\nimport atexit; atexit.register(time.sleep, 600)',
  ),
  slow('blocks in the kernel on a pipe', '', 'os.mkfifo("/tmp/pipe"); open("/tmp/pipe"); return 0'),
  slow(
    'spins on all cores',
    'for _ in range(30):\n    if os.fork() == 0:\n        while True: pass',
    'time.sleep(1); return 0',
  ),
];

export default submissionAttacks({
  tricks: slowTricks,
  task: codeTask,
  file: 'train.py',
  good,
  deserves: 12,
  long: true,
  seconds: 1_200,
});
