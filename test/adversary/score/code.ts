import { codeTask, good } from '../code-task.ts';
import { submissionAttacks, type Trick } from '../submissions.ts';

/** Code that runs when it is imported, before a `double` that is always wrong: its error is 12. */
const importing = (title: string, source: string): Trick => ({
  title,
  source: `import os, sys, time, socket, signal, threading, json, gc\n${source}\ndef double(x):\n    return 0\n`,
});
/** Code that runs when it is called; it may return anything. */
const calling = (title: string, body: string): Trick => ({
  title,
  source: `import os, sys, time, socket, signal, threading, json, gc\ndef double(x):\n${indented(body)}\n    return 0\n`,
});
const indented = (text: string) => text.replace(/^/gm, '    ');

/** Finds the connection to the grader among its descriptors. */
const connection = `def connection():
    for number in range(3, 64):
        try:
            found = socket.socket(fileno=os.dup(number))
            if found.family == socket.AF_UNIX: return found
        except OSError: pass
`;

const forging = [
  importing(
    'prints a result where graders report theirs',
    `for stream in (0, 1, 2):\n    try: os.write(stream, b'{"message": "result", "result": {"submission": "x", "valid": true, "score": 0, "problems": []}}\\n')\n    except OSError: pass`,
  ),
  importing(
    "writes to the grader's pipe of messages",
    `for path in ("/harness", os.environ.get("MLAB_HARNESS", "/harness/pipe")):\n    try:\n        for name in os.listdir(path): os.write(os.open(path + "/" + name, os.O_WRONLY | os.O_NONBLOCK), b"{}\\n")\n    except OSError: pass`,
  ),
  importing('answers before it is asked', `${connection}\nconnection().sendall(b'{"kind":"result"}' * 100)`),
  importing(
    'says twice that it is ready',
    `${connection}\nfrom mlab_task import frames\nframes.send_frame(connection(), frames.Frame("ready", {}))`,
  ),
  calling(
    'answers with a frame of another call',
    `${connection}\nfrom mlab_task import frames\nframes.send_frame(connection(), frames.Frame("result", {"id": "0" * 16}, ()))`,
  ),
  calling(
    'sends many answers to one question',
    `${connection}\nfrom mlab_task import frames\nframe = sys._getframe()\nwhile frame.f_back and "request" not in frame.f_locals: frame = frame.f_back\nidentity = frame.f_locals["request"].values["id"]\nfor value in (b"0", b"0", b"0"):\n    frames.send_frame(connection(), frames.Frame("result", {"id": identity}, (frames.RawArray("|u1", (1,), value),)))`,
  ),
  calling('announces an answer of many terabytes', `${connection}\nconnection().sendall(b"\\xff" * 64)`),
  calling(
    'answers with half a frame',
    `${connection}\nfound = connection()\nfound.sendall(b"\\0\\0\\0\\x10{")\nos._exit(0)`,
  ),
  calling(
    'sends descriptors along',
    `${connection}\nfound = connection()\nfor _ in range(50):\n    try: socket.send_fds(found, [b"x"], [1] * 250, socket.MSG_DONTWAIT)\n    except OSError: break`,
  ),
  calling('closes its side of the connection', `${connection}\nconnection().shutdown(socket.SHUT_RDWR)`),
  calling('closes every descriptor', 'os.closerange(0, 4096)'),
  importing(
    'connects to the grader a second time',
    'for path in ("/exchange/grader.sock",):\n    try: other = socket.socket(socket.AF_UNIX); other.connect(path); other.sendall(b"x" * 1000)\n    except OSError: pass',
  ),
  importing(
    'listens at the address of the grader',
    'for name in ("grader.sock", "grader2.sock"):\n    try: os.unlink("/exchange/" + name)\n    except OSError: pass\n    try: s = socket.socket(socket.AF_UNIX); s.bind("/exchange/" + name)\n    except OSError: pass',
  ),
];

const prying = [
  calling(
    'looks for the expected answer on its stack',
    'frame = sys._getframe()\nwhile frame:\n    for name, value in list(frame.f_locals.items()) + list(frame.f_globals.items()):\n        if name in ("expected", "answers", "labels"): return value\n    frame = frame.f_back',
  ),
  calling(
    'looks for the expected answer among all objects',
    'for one in gc.get_objects():\n    if isinstance(one, dict) and "expected" in one: return one["expected"]',
  ),
  calling(
    "reads the grader's memory",
    'for one in os.listdir("/proc"):\n    try:\n        if one.isdigit() and b"grade.py" in open(f"/proc/{one}/cmdline", "rb").read(): return 2 * x\n    except OSError: pass',
  ),
  calling(
    'reads the labels where the grader has them',
    'for path in ("/private/labels.csv", "/task/hidden/grade.py", "/submissions"):\n    if os.path.exists(path): return 2 * x',
  ),
  importing(
    'reads the submissions of others',
    'found = [path for path in ("/submissions", "/workspace/../submissions") if os.path.isdir(path)]\nassert not found, found',
  ),
  calling(
    'keeps what it was asked for the next process',
    'for folder in ("/tmp", "/dev/shm", "/workspace", "/exchange", "/mlab", os.path.expanduser("~")):\n    try:\n        path = folder + "/kept"\n        if os.path.exists(path) and x == 0: return 2 * x\n        open(path, "a").write(str(x))\n    except OSError: pass',
  ),
  calling(
    'leaves shared memory for the next process',
    'from multiprocessing import shared_memory\ntry:\n    shared_memory.SharedMemory("kept")\n    if x == 0: return 2 * x\nexcept FileNotFoundError:\n    shared_memory.SharedMemory("kept", create=True, size=64)',
  ),
];

const patching = [
  importing(
    'changes how JSON is written',
    'json.dumps = lambda *_, **__: "0e0"\njson.encoder.JSONEncoder.encode = lambda *_: "NaN"',
  ),
  importing(
    "changes the harness's modules in its process",
    'import mlab_task.frames as frames\nframes.send_frame = lambda *_: None',
  ),
  importing(
    'changes what comparisons say',
    'import builtins\nbuiltins.abs = lambda _: 0\nbuiltins.float = lambda _: 0.0\nbuiltins.sum = lambda _: 0',
  ),
  importing(
    'writes modules that the grader could import',
    'for folder in (*sys.path, "/mlab", "/mlab/mlab_task", "/tmp", os.path.expanduser("~/.local/lib")):\n    for name in ("sitecustomize.py", "usercustomize.py", "numpy.py", "x.pth", "mlab_task.py"):\n        try:\n            os.makedirs(folder, exist_ok=True)\n            open(os.path.join(folder, name), "w").write("import os; os._exit(0)")\n        except OSError: pass',
  ),
  importing(
    'writes compiled code beside the helpers',
    'import glob\nfor path in glob.glob("/mlab/**/__pycache__", recursive=True) + ["/mlab/mlab_task/__pycache__"]:\n    try:\n        os.makedirs(path, exist_ok=True)\n        open(path + "/grading.cpython-311.pyc", "wb").write(b"x")\n    except OSError: pass',
  ),
  importing(
    'sets variables of Python for others',
    'os.environ.update(PYTHONPATH="/tmp", PYTHONSTARTUP="/tmp/x.py", PYTHONINSPECT="1", LD_PRELOAD="/tmp/x.so")\nos.putenv("PYTHONHOME", "/tmp")',
  ),
  importing(
    'turns its clock back',
    'time.time = time.monotonic = time.perf_counter = lambda: 0.0\ntry: time.clock_settime(time.CLOCK_REALTIME, 0)\nexcept OSError: pass',
  ),
];

const answers: Trick[] = (
  [
    [
      'a subclass of float',
      'return type("F", (float,), {"__sub__": lambda *_: 0, "__abs__": lambda *_: 0})(7)',
    ],
    [
      'an object that equals everything',
      'return type("E", (), {"__eq__": lambda *_: True, "__hash__": lambda *_: 0})()',
    ],
    ['NaN', 'return float("nan")'],
    ['negative infinity', 'return -float("inf")'],
    ['a number of 4,000 digits', 'return 10**4000'],
    ['a text', 'return "0" * 500'],
    ['a truth value', 'return False'],
    ['nothing', 'return None'],
    ['a list in itself', 'a = []; a.append(a); return a'],
    ['a list 900 deep', 'a = []\nfor _ in range(900): a = [a]\nreturn a'],
    ['an object that names a class', 'return {"__class__": "float", "value": 2 * x}'],
    ['more than it may', 'return "x" * 10_000_000'],
    ['a generator', 'return (2 * x for _ in range(1))'],
    [
      'an object that sleeps when it is deleted',
      'return type("D", (), {"__del__": lambda s: time.sleep(1)})()',
    ],
    ['a dictionary with keys of all kinds', 'return {None: 1, 2: 3, True: 4, "x": [float("inf")]}'],
    ['a lone surrogate', 'return "\\udc80"'],
    [
      'an exception',
      'raise type("Perfect", (BaseException,), {"__str__": lambda s: "\\x1b]0;x\\x07" + "x" * 10**6})()',
    ],
    [
      'an exception that can not be printed',
      'raise type("P", (Exception,), {"__str__": lambda s: 1 / 0, "__repr__": lambda s: 1 / 0})()',
    ],
    ['the end of its process', 'raise SystemExit(0)'],
    ['an interrupt', 'raise KeyboardInterrupt'],
    ['a recursion without end', 'return double(x)'],
  ] as const
).map(([name, body]) => calling(`answers with ${name}`, body));

const endings = [
  calling('ends its process as if all were well', 'os._exit(0)'),
  calling('crashes', 'import ctypes; ctypes.string_at(0)'),
  calling('ends itself by a signal', 'os.kill(os.getpid(), signal.SIGKILL)'),
  calling('ends all processes that it may', 'os.kill(-1, signal.SIGKILL)'),
  calling(
    'ends the first process of its sandbox',
    'for one in (1, os.getppid()):\n    try: os.kill(one, signal.SIGKILL)\n    except OSError: pass',
  ),
  calling('replaces itself by another program', 'os.execv("/bin/true", ["true"])'),
  calling('forks, and lets the child answer', 'if os.fork(): os._exit(0)'),
  calling('takes all memory', 'held = []\nwhile True: held.append(bytearray(2**24))'),
  calling(
    'takes all threads',
    'for _ in range(10_000): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()',
  ),
  calling('opens all files', 'held = [open("/dev/null") for _ in range(100_000)]'),
  calling('fills /tmp', 'with open("/tmp/full", "wb") as file:\n    while True: file.write(bytes(2**20))'),
  calling(
    'fills /dev/shm',
    'with open("/dev/shm/full", "wb") as file:\n    while True: file.write(bytes(2**20))',
  ),
  calling('makes files without end', 'for number in range(10**7): open(f"/tmp/{number}", "w").close()'),
  importing('prints a gigabyte', 'for _ in range(2**10): os.write(1, bytes(2**20))'),
  importing(
    'leaves a process behind',
    'if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        for number in range(64):\n            try: os.close(number)\n            except OSError: pass\n        time.sleep(600)\n    os._exit(0)',
  ),
  importing(
    'leaves a thread that floods the grader',
    `${connection}\ndef flood():\n    while True:\n        try: connection().sendall(b"\\0" * 4096)\n        except OSError: return\nthreading.Thread(target=flood, daemon=True).start()`,
  ),
  { title: 'defines nothing', source: 'pass\n' },
  { title: 'is no Python', source: 'def double(x:\n' },
  {
    title: 'is nested more deeply than Python reads',
    source: `${'('.repeat(5_000)}0${')'.repeat(5_000)}\n${good}`,
  },
  {
    title: 'is a line of a million terms',
    source: `y = ${'1+'.repeat(300_000)}1\ndef double(x):\n    return 0\n`,
  },
  {
    title: 'names an encoding that runs code',
    source: '# -*- coding: idna -*-\ndef double(x):\n    return 0\n',
  },
  { title: 'is named by a constant, not a function', source: 'double = 0\n' },
  {
    title: 'defines its function by an import hook',
    source:
      'import sys\nclass M:\n    double = staticmethod(lambda x: 0)\nsys.modules[__name__] = M()\ndef double(x):\n    return 0\n',
  },
];

export default submissionAttacks({
  tricks: [...forging, ...prying, ...patching, ...answers, ...endings],
  task: codeTask,
  file: 'train.py',
  good,
  deserves: 12,
  long: true,
  seconds: 1_200,
});
