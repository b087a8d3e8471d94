/**
 * A filter of system calls, as the kernel's classic packet-filter bytecode, for `bwrap --seccomp`.
 * Namespaces and lost capabilities do the confining; this closes what they leave open: socket families that know
 * no network namespace (a virtual machine's line to its host, say), the keys of the caller's session, and parts of
 * the kernel that no training script needs and that break often.
 */

interface Architecture {
  /** AUDIT_ARCH_… of linux/audit.h. */
  audit: number;
  socket: number;
  clone: number;
  /** Calls that answer "not permitted". */
  denied: readonly number[];
  /** Calls with this bit set belong to another ABI, and are refused; 0 where there is none. */
  foreignBit: number;
}

/** io_uring_setup, _enter, _register; open_tree, move_mount, fsopen, fsconfig, fsmount, fspick; pidfd_getfd; mount_setattr. */
const deniedEverywhere = [425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442];
/** Its flags lie in memory, where a filter can't look; programs fall back to `clone`. */
const clone3 = 435;
const newUserNamespace = 0x10000000;

const architectures: Partial<Record<string, Architecture>> = {
  x64: {
    audit: 0xc000003e,
    socket: 41,
    clone: 56,
    // mount, umount2, swapon, swapoff, reboot, pivot_root, chroot, acct, init_module, delete_module, add_key,
    // request_key, keyctl, unshare, kexec_load, perf_event_open, open_by_handle_at, setns, finit_module,
    // kexec_file_load, bpf, userfaultfd
    denied: [
      165, 166, 167, 168, 169, 155, 161, 163, 175, 176, 248, 249, 250, 272, 246, 298, 304, 308, 313, 320, 321,
      323,
    ],
    foreignBit: 0x40000000,
  },
  arm64: {
    audit: 0xc00000b7,
    socket: 198,
    clone: 220,
    // umount2, mount, pivot_root, chroot, acct, unshare, kexec_load, init_module, delete_module, reboot, add_key,
    // request_key, keyctl, swapon, swapoff, perf_event_open, open_by_handle_at, setns, finit_module, bpf,
    // userfaultfd, kexec_file_load
    denied: [
      39, 40, 41, 51, 89, 97, 104, 105, 106, 142, 217, 218, 219, 224, 225, 241, 265, 268, 273, 280, 282, 294,
    ],
    foreignBit: 0,
  },
};

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
  for (const call of [...facts.denied, ...deniedEverywhere]) {
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
