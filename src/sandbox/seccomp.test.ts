import { describe, expect, it } from 'vitest';
import { seccompFilter } from './seccomp.ts';

interface Call {
  architecture: number;
  call: number;
  firstArgument?: number;
}

/** Runs a filter as the kernel does, for the instructions that ours has. */
function verdict(filter: Buffer, { architecture, call, firstArgument = 0 }: Call): number {
  const words = new Map([
    [0, call],
    [4, architecture],
    [16, firstArgument],
  ]);
  let accumulator = 0;
  for (let index = 0; index * 8 < filter.length; index++) {
    const code = filter.readUInt16LE(index * 8);
    const operand = filter.readUInt32LE(index * 8 + 4);
    const jump = (holds: boolean) => filter.readUInt8(index * 8 + (holds ? 2 : 3));
    if (code === 0x06) return operand;
    else if (code === 0x20) accumulator = words.get(operand) ?? 0;
    else if (code === 0x15) index += jump(accumulator === operand);
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

  it('lets sockets be made only in families that the empty network confines', () => {
    for (const family of [1, 2, 10, 16]) expect(answer(socket, family)).toBe(allow);
    for (const family of [0, 17, 38, 40, 44]) expect(answer(socket, family)).toBe(refused(97));
  });

  it('refuses keys, namespaces and what hides its flags', () => {
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

it('knows no filter for an architecture that it was not written for', () => {
  expect(seccompFilter('mips')).toBeNull();
});
