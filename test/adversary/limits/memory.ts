import { type AttackFields, attack, held, worked } from '../attack.ts';

/** The sandbox has 256 MiB; an attack that holds twice as much at one time reports that. */
const most = 512;

/** @param source Python that allocates MiB after MiB and calls `reached(total)` with the total */
function holding(title: string, source: string, more: Partial<AttackFields> = {}) {
  return attack({
    title,
    long: true,
    seconds: 60,
    ...more,
    run: async (stage) => {
      const seconds = 1.5 + (await stage.allowance()) / 1000;
      const script = `import os, sys, mmap, socket, time, ctypes
def reached(total):
    if total >= ${most}:
        print("REACHED", flush=True); time.sleep(${seconds}); print("KEPT", flush=True); os._exit(0)
${source}
`;
      const { output, ending } = await stage.python(script, { timeoutMs: 40_000 });
      if (/SyntaxError|NameError/.test(output)) throw new Error(output);
      if (output.includes('KEPT')) return worked(`held ${most} MiB for ${seconds.toFixed(1)} s`);
      return held(`${ending}: ${output.trim().split('\n').at(-1) ?? ''}`);
    },
  });
}

export default [
  holding(
    'takes memory in one process',
    'held = []\nwhile True: held.append(b"x" * 2**20); reached(len(held))',
  ),
  holding(
    'takes memory in many processes',
    `total = 0
for number in range(30):
    if os.fork() == 0:
        held = b"x" * 20 * 2**20; time.sleep(8); os._exit(0)
    total += 20; time.sleep(0.05)
time.sleep(2)
alive = 0
import signal
for one in os.listdir("/proc"):
    try: alive += "python" in open(f"/proc/{one}/cmdline").read() and int(open(f"/proc/{one}/statm").read().split()[1]) * 4096 > 2e7
    except (OSError, ValueError): pass
reached(alive * 20)`,
  ),
  holding(
    'takes memory in a shared mapping',
    'held = []\nwhile True:\n    m = mmap.mmap(-1, 2**20); m.write(b"x" * 2**20); held.append(m); reached(len(held))',
  ),
  holding(
    'takes memory in shared mappings whose pages no process keeps',
    'held = []\nwhile True:\n    m = mmap.mmap(-1, 2**24); m.write(b"x" * 2**24); m.madvise(mmap.MADV_DONTNEED); held.append(m); reached(16 * len(held))',
  ),
  holding(
    'takes memory in files without a name (memfd)',
    'f = os.memfd_create("x")\ntotal = 0\nwhile True:\n    os.write(f, b"x" * 2**20); total += 1; reached(total)\n    if total % 60 == 0: f = os.memfd_create("x")',
  ),
  holding(
    'takes memory in shared segments of System V',
    `libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
total = 0
while True:
    one = libc.shmget(0, 2**24, 0o1600)
    if one < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    at = libc.shmat(one, None, 0)
    if at in (None, 2**64 - 1): raise OSError(ctypes.get_errno(), "shmat")
    ctypes.memset(at, 1, 2**24); libc.shmdt(ctypes.c_void_p(at)); total += 16; reached(total)`,
  ),
  holding(
    'takes memory in /dev/shm',
    'total = 0\nwhile True:\n    open(f"/dev/shm/{total}", "wb").write(b"x" * 2**20); total += 1; reached(total)',
  ),
  holding(
    'takes memory in /tmp',
    'total = 0\nwhile True:\n    open(f"/tmp/{total}", "wb").write(b"x" * 2**20); total += 1; reached(total)',
  ),
  holding(
    'takes memory in the buffers of sockets',
    `held, total = [], 0.0
while True:
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    a.setblocking(False); a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**22)
    try:
        while True: total += a.send(b"x" * 65536) / 2**20
    except BlockingIOError: pass
    held.append((a, b)); reached(total)`,
  ),
  holding(
    'takes memory in connections to itself',
    `server, held, total = socket.create_server(("127.0.0.1", 0)), [], 0.0
for _ in range(400):
    ends = socket.create_connection(server.getsockname()), server.accept()[0]
    for end in ends:
        end.setblocking(False); end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**22)
        try:
            while True: total += end.send(b"x" * 65536) / 2**20
        except BlockingIOError: pass
    held.append(ends); reached(total)`,
  ),
  holding(
    'takes memory in datagrams that it never reads',
    `sender, held = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), []
for number in range(3500):
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); one.bind(("127.0.0.1", 0)); held.append(one)
    for _ in range(8):
        try: sender.sendto(b"x" * 60000, one.getsockname())
        except OSError: pass
    if number % 500 == 499:
        reached(sum(int(line.split()[4].split(":")[1], 16) for line in open("/proc/net/udp").readlines()[1:]) / 2**20)`,
  ),
  holding(
    'takes memory in pipes',
    `import fcntl
held, total = [], 0.0
while True:
    r, w = os.pipe(); os.set_blocking(w, False)
    try: fcntl.fcntl(w, 1031, 2**20)
    except OSError: pass
    try:
        while True: total += os.write(w, b"x" * 65536) / 2**20
    except BlockingIOError: pass
    held.append((r, w)); reached(total)`,
  ),
  holding(
    'takes memory in files that it removed from /tmp and still maps',
    'held = []\nwhile True:\n    f = os.open("/tmp/x", os.O_RDWR | os.O_CREAT); os.ftruncate(f, 2**20); m = mmap.mmap(f, 2**20); m.write(b"x" * 2**20)\n    os.close(f); os.unlink("/tmp/x"); held.append(m); reached(len(held))',
  ),
  holding(
    'takes memory in messages of System V',
    `libc = ctypes.CDLL(None, use_errno=True)
total = 0.0
body = ctypes.create_string_buffer(b"\\1\\0\\0\\0\\0\\0\\0\\0" + b"x" * 8000)
while True:
    one = libc.msgget(0, 0o1600)
    if one < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    while libc.msgsnd(one, body, ctypes.c_size_t(8000), 0o4000) == 0: total += 8000 / 2**20
    reached(total)`,
  ),
  holding(
    'takes memory in page tables',
    'held = []\ntotal = 0\nwhile True:\n    m = mmap.mmap(-1, 2**32, flags=mmap.MAP_PRIVATE | 0x4000, prot=mmap.PROT_READ)\n    for at in range(0, 2**32, 2**21): m[at]\n    held.append(m); total += 8; reached(total)',
  ),
  holding(
    'takes memory while a child takes its place again and again',
    'held = b"x" * 150 * 2**20\nif os.fork() == 0:\n    more = bytearray(held); time.sleep(3); os._exit(0)\nmore = bytearray(held); more2 = bytearray(held); time.sleep(1)\nreached(600)',
  ),
  holding(
    'takes memory in answers of netlink that it does not read',
    `import struct
held = []
for number in range(3500):
    one = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0); one.setblocking(False); held.append(one)
    try:
        for _ in range(4): one.send(struct.pack("=IHHII", 16, 3, 5, 1, 0) * 400)
    except OSError: pass
    if number % 500 == 499:
        reached(sum(int(line.split()[4]) for line in open("/proc/net/netlink").readlines()[1:]) / 2**20)`,
  ),
];
