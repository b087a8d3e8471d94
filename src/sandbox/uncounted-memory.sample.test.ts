import { describe, expect, it } from 'vitest';
import { createSandbox } from './create-sandbox.ts';
import { makePlace, obstacleTo, runProgram } from './test-support.ts';

const mebibyte = 2 ** 20;
const reason = await obstacleTo('bubblewrap', { limits: 'rlimits' });

describe.skipIf(reason !== null)('memory that belongs to no process, without control groups', () => {
  async function python(script: string, temporaryMegabytes = 16) {
    using place = makePlace();
    const { limits } = place.spec();
    const spec = place.spec({
      limits: { ...limits, fileBytes: 300 * mebibyte, temporaryBytes: temporaryMegabytes * mebibyte },
    });
    await using sandbox = await createSandbox('bubblewrap', spec, { limits: 'rlimits' });
    return await runProgram(sandbox, ['/usr/bin/python3', '-c', script]);
  }

  it('counts in files of the private memory file systems', async () => {
    const fill = (folder: string) =>
      `f = open('${folder}/x', 'wb')\nfor _ in range(200): f.write(bytes(2**20))\nf.flush()`;
    const both = `${fill('/tmp')}\n${fill('/dev/shm')}\nimport time; time.sleep(8)`;
    expect(await python(both, 250)).toMatchObject({ ending: 'out_of_memory' });
    expect(await python(fill('/tmp'), 250)).toMatchObject({ ending: 'exited', exitCode: 0 });
  });

  it('counts files in memory once, however many processes map them', async () => {
    const script = [
      'import mmap, os, time',
      'f = open("/dev/shm/x", "wb+"); f.write(bytes(2**20) * 80); f.flush()',
      'm = mmap.mmap(f.fileno(), 0)',
      'for _ in range(6):',
      '    if os.fork() == 0: sum(m[::4096]); time.sleep(2); os._exit(0)',
      'sum(m[::4096]); time.sleep(2)',
    ];
    expect(await python(script.join('\n'), 100)).toMatchObject({ ending: 'exited', exitCode: 0 });
  });

  it('counts in shared mappings, also if no process keeps their pages', async () => {
    const script = [
      'import mmap, time',
      'm = mmap.mmap(-1, 2**30)',
      'for at in range(0, 2**30, 2**24):',
      '    m.write(bytes(2**24)); m.madvise(mmap.MADV_DONTNEED, at, 2**24); time.sleep(0.02)',
      'time.sleep(8)',
    ];
    expect(await python(script.join('\n'))).toMatchObject({ ending: 'out_of_memory' });
  });

  it('counts shared mappings once, and only what they hold', async () => {
    const script = [
      'import mmap, os, time',
      'empty, m = mmap.mmap(-1, 2**32), mmap.mmap(-1, 80 * 2**20)',
      'm.write(bytes(80 * 2**20)); empty[0] = 1',
      'for _ in range(6):',
      '    if os.fork() == 0: sum(m[::4096]); time.sleep(2); os._exit(0)',
      'sum(m[::4096]); time.sleep(2)',
    ];
    expect(await python(script.join('\n'))).toMatchObject({ ending: 'exited', exitCode: 0 });
  });

  it('is refused where it could not be measured', async () => {
    const script = [
      'import ctypes, os',
      'try: os.memfd_create("x"); print("made")',
      'except OSError as error: print(error.strerror)',
      'libc = ctypes.CDLL(None, use_errno=True)',
      'for call in (libc.shmget, libc.semget):',
      '    print(call(0, 4096, 0o1600), os.strerror(ctypes.get_errno()))',
    ];
    const { output } = await python(script.join('\n'));
    expect(output.match(/Function not implemented/g)).toHaveLength(3);
    expect(output).not.toContain('made');
  });

  it('counts the data in local sockets', async () => {
    const script = [
      'import socket, time',
      'pairs = [socket.socketpair() for _ in range(1500)]',
      'for one, _ in pairs:',
      '    one.setblocking(False)',
      '    try:',
      '        while True: one.send(bytes(65536))',
      '    except BlockingIOError: pass',
      'time.sleep(8)',
    ];
    expect(await python(script.join('\n'))).toMatchObject({ ending: 'out_of_memory' });
  });

  it("counts the data in the sandbox's connections to itself", async () => {
    const script = [
      'import socket, time',
      'server, held, total = socket.create_server(("127.0.0.1", 0)), [], 0',
      'while total < 400 * 2**20:',
      '    ends = socket.create_connection(server.getsockname()), server.accept()[0]',
      '    for end in ends:',
      '        end.setblocking(False)',
      '        try:',
      '            while True: total += end.send(bytes(65536))',
      '        except BlockingIOError: pass',
      '    held.append(ends)',
      'time.sleep(8)',
    ];
    expect(await python(script.join('\n'))).toMatchObject({ ending: 'out_of_memory' });
  });

  it('counts unread datagrams', async () => {
    const script = [
      'import socket, time',
      'sender, held = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), []',
      'for _ in range(1500):',
      '    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); one.bind(("127.0.0.1", 0)); held.append(one)',
      '    for _ in range(8): sender.sendto(bytes(50000), one.getsockname())',
      'time.sleep(8)',
    ];
    expect(await python(script.join('\n'))).toMatchObject({ ending: 'out_of_memory' });
  });

  it('counts unread answers of the kernel', async () => {
    const script = [
      'import socket, struct, time',
      'held = []',
      'for _ in range(3000):',
      '    one = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0); one.setblocking(False); held.append(one)',
      '    try:',
      '        for _ in range(4): one.send(struct.pack("=IHHII", 16, 3, 5, 1, 0) * 400)',
      '    except OSError: pass',
      'time.sleep(8)',
    ];
    expect(await python(script.join('\n'))).toMatchObject({ ending: 'out_of_memory' });
  });

  it("allows the sandbox's connections to itself", async () => {
    const script = [
      'import socket',
      'server = socket.create_server(("127.0.0.1", 0))',
      'pairs = [(socket.create_connection(server.getsockname()), server.accept()[0]) for _ in range(100)]',
      'for one, other in pairs: one.sendall(b"x" * 1000); assert other.recv(2000)',
      'import time; time.sleep(1); print("served")',
    ];
    expect((await python(script.join('\n'))).output).toBe('served\n');
  });

  it('counts the page tables of memory that was only read', async () => {
    const script = [
      'import mmap, time',
      'm = mmap.mmap(-1, 2**38, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ)',
      'for at in range(0, 2**38, 2**21): m[at]',
      'time.sleep(8)',
    ];
    expect(await python(script.join('\n'))).toMatchObject({ ending: 'out_of_memory' });
  });

  it('allows what multiprocessing and queues need', async () => {
    const script = [
      'import multiprocessing as mp',
      'from multiprocessing import shared_memory',
      'def work(q, l):',
      '    with l: q.put(sum(range(10)))',
      'if __name__ == "__main__":',
      '    q, l = mp.Queue(), mp.Lock()',
      '    p = mp.Process(target=work, args=(q, l)); p.start(); print(q.get()); p.join()',
      '    s = shared_memory.SharedMemory(create=True, size=4096); s.buf[0] = 1; print(s.buf[0]); s.close(); s.unlink()',
      '    with mp.Pool(2) as pool: print(sum(pool.map(abs, range(-3, 3))))',
    ];
    expect((await python(script.join('\n'))).output).toBe('45\n1\n9\n');
  });
});
