import { describe, expect, it } from 'vitest';
import { seccompFilter } from './seccomp.ts';

interface Call {
  architecture: number;
  call: number;
  firstArgument?: number;
  arguments?: number[];
}

/** Runs a filter as the kernel does, for the instructions that our filter uses. */
function verdict(filter: Buffer, { architecture, call, firstArgument = 0, ...given }: Call): number {
  const words = new Map([
    [0, call],
    [4, architecture],
    ...(given.arguments ?? [firstArgument]).map((value, index) => [16 + 8 * index, value] as const),
  ]);
  let accumulator = 0;
  for (let index = 0; index * 8 < filter.length; index++) {
    const code = filter.readUInt16LE(index * 8);
    const operand = filter.readUInt32LE(index * 8 + 4);
    const jump = (holds: boolean) => filter.readUInt8(index * 8 + (holds ? 2 : 3));
    if (code === 0x06) return operand;
    else if (code === 0x20) accumulator = words.get(operand) ?? 0;
    else if (code === 0x15) index += jump(accumulator === operand);
    else if (code === 0x25) index += jump(accumulator > operand);
    else if (code === 0x45) index += jump((accumulator & operand) !== 0);
    else throw new Error(`unknown instruction ${code}`);
  }
  throw new Error('the filter has no answer');
}

const allow = 0x7fff0000;
const refused = (errno: number) => 0x00050000 + errno;

describe.each([
  { name: 'x64', architecture: 0xc000003e, read: 0, socket: 41, clone: 56, keyctl: 250, unshare: 272 },
  { name: 'arm64', architecture: 0xc00000b7, read: 63, socket: 198, clone: 220, keyctl: 219, unshare: 97 },
])('the filter of system calls for $name', ({ name, architecture, read, socket, clone, keyctl, unshare }) => {
  const filter = seccompFilter(name) ?? Buffer.alloc(0);
  const answer = (call: number, firstArgument = 0) => verdict(filter, { architecture, call, firstArgument });

  it('lets ordinary calls pass', () => {
    expect(answer(read)).toBe(allow);
    expect(answer(clone, 0x00010f00)).toBe(allow);
  });

  it('allows sockets only of families that the empty network confines', () => {
    for (const family of [1, 2, 10, 16]) expect(answer(socket, family)).toBe(allow);
    for (const family of [0, 17, 38, 40, 44]) expect(answer(socket, family)).toBe(refused(97));
  });

  it('refuses keys, namespaces and calls whose flags are in memory', () => {
    expect(answer(keyctl)).toBe(refused(1));
    expect(answer(unshare)).toBe(refused(1));
    expect(answer(clone, 0x10000000)).toBe(refused(1));
    expect(answer(435)).toBe(refused(38));
    expect(answer(425)).toBe(refused(1));
  });

  it('ends programs of another architecture', () => {
    expect(verdict(filter, { architecture: 0x40000003, call: read })).toBe(0x80000000);
  });
});

describe('the filter of system calls on x64', () => {
  const answer = (call: number, ...given: number[]) =>
    verdict(seccompFilter('x64') ?? Buffer.alloc(0), { architecture: 0xc000003e, call, arguments: given });
  const create = 0o101;

  it('refuses setuid and setgid bits, however a file gets its permissions', () => {
    for (const bits of [0o4755, 0o2755, 0o6000]) {
      expect(answer(90, 0, bits)).toBe(refused(1));
      expect(answer(91, 3, bits)).toBe(refused(1));
      expect(answer(268, 3, 0, bits)).toBe(refused(1));
      expect(answer(452, 3, 0, bits)).toBe(refused(1));
      expect(answer(85, 0, bits)).toBe(refused(1));
      expect(answer(133, 0, bits | 0o100000)).toBe(refused(1));
      expect(answer(259, 3, 0, bits | 0o100000)).toBe(refused(1));
      expect(answer(2, 0, create, bits)).toBe(refused(1));
      expect(answer(257, 3, 0, create, bits)).toBe(refused(1));
      expect(answer(257, 3, 0, 0o20200001, bits)).toBe(refused(1));
    }
    expect(answer(437)).toBe(refused(38));
  });

  it('allows files with ordinary permissions, and ignores unused arguments', () => {
    expect(answer(90, 0, 0o1777)).toBe(allow);
    expect(answer(257, 3, 0, create, 0o644)).toBe(allow);
    expect(answer(257, 3, 0, 0, 0o6777)).toBe(allow);
    expect(answer(2, 0, 0o1, 0xffff)).toBe(allow);
  });

  it('refuses leases and notifications, with which a reader makes others wait', () => {
    expect(answer(72, 3, 1024)).toBe(refused(1));
    expect(answer(72, 3, 1026)).toBe(refused(1));
    expect(answer(72, 3, 6)).toBe(allow);
    expect(answer(253)).toBe(refused(24));
    expect(answer(16, 0, 0x5412)).toBe(refused(1));
    expect(answer(16, 0, 0x5401)).toBe(allow);
    expect(answer(53, 30)).toBe(refused(97));
    expect(answer(53, 1)).toBe(allow);
  });

  it('refuses to allocate disk space without writing, and allows releasing it', () => {
    expect(answer(285, 3, 0)).toBe(refused(95));
    expect(answer(285, 3, 1)).toBe(refused(95));
    expect(answer(285, 3, 0x10)).toBe(refused(95));
    expect(answer(285, 3, 3)).toBe(allow);
    expect(answer(16, 3, 0x4030582a)).toBe(refused(1));
  });

  it('refuses calls that were added to the kernel after the filter was written', () => {
    expect(answer(470)).toBe(refused(38));
    expect(answer(468)).toBe(allow);
  });

  it('refuses what would be left for later commands: shared memory, queues and semaphores with keys', () => {
    for (const call of [29, 68, 64, 240]) expect(answer(call)).toBe(refused(38));
  });

  it('refuses memory that belongs to no process only if nothing counts it', () => {
    const strict = seccompFilter('x64', { countsAllMemory: false }) ?? Buffer.alloc(0);
    expect(answer(319)).toBe(allow);
    expect(verdict(strict, { architecture: 0xc000003e, call: 319 })).toBe(refused(38));
    const option = (level: number, name: number) =>
      verdict(strict, { architecture: 0xc000003e, call: 54, arguments: [3, level, name] });
    for (const name of [7, 8, 32, 33]) {
      expect(option(1, name)).toBe(refused(0));
      expect(answer(54, 3, 1, name)).toBe(allow);
    }
    expect(option(1, 2)).toBe(allow);
    expect(option(6, 7)).toBe(allow);
  });
});

it('gives no filter for other architectures', () => {
  expect(seccompFilter('mips')).toBeNull();
});
