/**
 * A filter of system calls, as the kernel's classic packet-filter bytecode, for `bwrap --seccomp`.
 * Namespaces and lost capabilities do the confining; this closes what they leave open: socket families that know
 * no network namespace (a virtual machine's line to its host, say), the keys of the caller's session, and parts of
 * the kernel that no training script needs and that break often.
 */

/** Calls that answer "not permitted", with their numbers on x64 and arm64. */
const denied = {
  mount: [165, 40],
  umount2: [166, 39],
  swapon: [167, 224],
  swapoff: [168, 225],
  reboot: [169, 142],
  pivot_root: [155, 41],
  chroot: [161, 51],
  acct: [163, 89],
  init_module: [175, 105],
  delete_module: [176, 106],
  finit_module: [313, 273],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  unshare: [272, 97],
  setns: [308, 268],
  open_by_handle_at: [304, 265],
  perf_event_open: [298, 241],
  bpf: [321, 280],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  pidfd_getfd: [438, 438],
  mount_setattr: [442, 442],
} as const;

interface Architecture {
  /** AUDIT_ARCH_… of linux/audit.h. */
  audit: number;
  socket: number;
  clone: number;
  /** Which column of the table above. */
  column: 0 | 1;
  /** Calls with this bit set belong to another ABI, and are refused; 0 where there is none. */
  foreignBit: number;
}

const architectures: Partial<Record<string, Architecture>> = {
  x64: { audit: 0xc000003e, socket: 41, clone: 56, column: 0, foreignBit: 0x40000000 },
  arm64: { audit: 0xc00000b7, socket: 198, clone: 220, column: 1, foreignBit: 0 },
};

/** Its flags lie in memory, where a filter can't look; programs fall back to `clone`. */
const clone3 = 435;
const newUserNamespace = 0x10000000;

/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK: all of them bound to the (empty) network namespace or to a mounted file. */
const allowedFamilies = [1, 2, 10, 16];

const loadWord = 0x20;
const jumpIfEqual = 0x15;
const jumpIfAnySet = 0x45;
const answer = 0x06;

const allow = 0x7fff0000;
const notPermitted = 0x00050001;
const noSuchCall = 0x00050026;
const familyNotSupported = 0x00050061;
const killProcess = 0x80000000;
const errnoMask = 0xffff;

/** Offsets in struct seccomp_data; both architectures are little-endian. */
const offset = { call: 0, architecture: 4, firstArgument: 16 };

/** The filter for this architecture, or null where none is known. */
export function seccompFilter(architecture: string = process.arch): Buffer | null {
  const facts = architectures[architecture];
  if (facts === undefined) return null;
  const program: Instruction[] = [
    [loadWord, 0, 0, offset.architecture],
    [jumpIfEqual, 1, 0, facts.audit],
    [answer, 0, 0, killProcess],
    [loadWord, 0, 0, offset.call],
  ];
  if (facts.foreignBit !== 0) {
    program.push([jumpIfAnySet, 0, 1, facts.foreignBit], [answer, 0, 0, notPermitted]);
  }
  for (const call of Object.values(denied).map((numbers) => numbers[facts.column])) {
    program.push([jumpIfEqual, 0, 1, call], [answer, 0, 0, notPermitted]);
  }
  program.push([jumpIfEqual, 0, 1, clone3], [answer, 0, 0, noSuchCall]);
  program.push(
    [jumpIfEqual, 0, 4, facts.clone],
    [loadWord, 0, 0, offset.firstArgument],
    [jumpIfAnySet, 0, 1, newUserNamespace],
    [answer, 0, 0, notPermitted],
    [answer, 0, 0, allow],
  );
  program.push([jumpIfEqual, 1, 0, facts.socket], [answer, 0, 0, allow]);
  program.push([loadWord, 0, 0, offset.firstArgument]);
  for (const family of allowedFamilies) {
    program.push([jumpIfEqual, 0, 1, family], [answer, 0, 0, allow]);
  }
  program.push([answer, 0, 0, familyNotSupported]);
  return assemble(program);
}

/** The same as a profile for a container engine, in the form of Docker's `--security-opt seccomp=FILE`. */
export function seccompProfile(): object {
  const families = Array.from({ length: 64 }, (_, family) => family).filter(
    (family) => !allowedFamilies.includes(family),
  );
  const refuse = (names: string[], errno: number, args: object[] = []) => ({
    names,
    action: 'SCMP_ACT_ERRNO',
    errnoRet: errno,
    args,
  });
  const firstArgument = (value: number, op: string, valueTwo = 0) => [{ index: 0, value, valueTwo, op }];
  return {
    defaultAction: 'SCMP_ACT_ALLOW',
    syscalls: [
      refuse(Object.keys(denied), notPermitted & errnoMask),
      refuse(['clone3'], noSuchCall & errnoMask),
      refuse(['clone'], 1, firstArgument(newUserNamespace, 'SCMP_CMP_MASKED_EQ', newUserNamespace)),
      ...families.map((family) =>
        refuse(['socket'], familyNotSupported & errnoMask, firstArgument(family, 'SCMP_CMP_EQ')),
      ),
    ],
  };
}

/** Code, jump when true, jump when false, operand. */
type Instruction = readonly [code: number, whenTrue: number, whenFalse: number, operand: number];

function assemble(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(([code, whenTrue, whenFalse, operand], index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(whenTrue, index * 8 + 2);
    bytes.writeUInt8(whenFalse, index * 8 + 3);
    bytes.writeUInt32LE(operand, index * 8 + 4);
  });
  return bytes;
}
