import {
  allocation,
  allowedFamilies,
  bufferSizes,
  commands,
  creating,
  denied,
  lasting,
  lastKnownCall,
  permissions,
  setIds,
  sockets,
  uncounted,
  uncountedFamily,
  unknown,
  usedUp,
} from './seccomp-rules.ts';

/**
 * A filter of system calls, as the kernel's classic packet-filter bytecode, for `bwrap --seccomp`. Namespaces and
 * dropped capabilities do the confining; this closes what they leave open: socket families without network namespaces
 * (such as a virtual machine's connection to its host), the keys of the caller's session, setuid files, ways to make
 * programs of the host wait, and parts of the kernel that no training script needs and that often have bugs.
 */

interface Architecture {
  /** AUDIT_ARCH_… of linux/audit.h. */
  audit: number;
  clone: number;
  /** Which of a call's numbers. */
  column: 0 | 1;
  /** Calls with this bit set belong to another ABI, and are refused; 0 if there is none. */
  foreignBit: number;
}

const architectures: Partial<Record<string, Architecture>> = {
  x64: { audit: 0xc000003e, clone: 56, column: 0, foreignBit: 0x40000000 },
  arm64: { audit: 0xc00000b7, clone: 220, column: 1, foreignBit: 0 },
};

const newUserNamespace = 0x10000000;

const loadWord = 0x20;
const jumpIfEqual = 0x15;
const jumpIfGreater = 0x25;
const jumpIfAnySet = 0x45;
const answer = 0x06;

const allow = 0x7fff0000;
/** The call is not executed, and returns 0. */
const passedOver = 0x00050000;
const notPermitted = 0x00050001;
const tooManyFiles = 0x00050018;
const noSuchCall = 0x00050026;
const notSupported = 0x0005005f;
const familyNotSupported = 0x00050061;
const killProcess = 0x80000000;
const errnoMask = 0xffff;

/** Offsets in struct seccomp_data; both architectures are little-endian. */
const offset = { call: 0, architecture: 4, arguments: 16 };

export interface FilterOptions {
  /** Whether control groups count the memory that belongs to no process; default: they do. */
  countsAllMemory?: boolean;
}

/** The filter for this architecture, or null if there is none. */
export function seccompFilter(
  architecture: string = process.arch,
  { countsAllMemory = true }: FilterOptions = {},
): Buffer | null {
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
  program.push([jumpIfGreater, 0, 1, lastKnownCall], [answer, 0, 0, noSuchCall]);
  const rule = (call: readonly (number | null)[], body: Instruction[]) => {
    const number = call[facts.column] ?? null;
    if (number !== null) program.push([jumpIfEqual, 0, body.length, number], ...body);
  };
  // The most frequent first. Each rule overwrites the loaded call number, so it must end with a result.
  for (const { call, mode, flags } of permissions.toReversed()) rule(call, refuseSetIds(mode, flags));
  for (const { call, values } of commands) rule(call, refuseValues(values));
  for (const call of Object.values(sockets)) rule(call, allowFamilies());
  rule(allocation.call, refuseAllocation());
  rule([facts.clone, facts.clone], refuseBits(0, newUserNamespace));
  for (const call of Object.values(denied)) rule(call, [[answer, 0, 0, notPermitted]]);
  for (const call of Object.values({ ...unknown, ...lasting })) rule(call, [[answer, 0, 0, noSuchCall]]);
  for (const call of Object.values(usedUp)) rule(call, [[answer, 0, 0, tooManyFiles]]);
  if (!countsAllMemory) {
    for (const call of Object.values(uncounted)) rule(call, [[answer, 0, 0, noSuchCall]]);
    rule(bufferSizes.call, passOverBufferSizes());
  }
  program.push([answer, 0, 0, allow]);
  return assemble(program);
}

function refuseBits(argument: number, bits: number): Instruction[] {
  return [
    loadArgument(argument),
    [jumpIfAnySet, 0, 1, bits],
    [answer, 0, 0, notPermitted],
    [answer, 0, 0, allow],
  ];
}

/** A mode counts only if the flags say that a file is created: otherwise the register contains anything. */
function refuseSetIds(mode: number, flags: number | undefined): Instruction[] {
  const refusal = refuseBits(mode, setIds[0] | setIds[1]);
  if (flags === undefined) return refusal;
  return [loadArgument(flags), [jumpIfAnySet, 0, refusal.length - 1, creating[0] | creating[1]], ...refusal];
}

function refuseValues(values: readonly number[]): Instruction[] {
  const refusals = values.flatMap((value): Instruction[] => [
    [jumpIfEqual, 0, 1, value],
    [answer, 0, 0, notPermitted],
  ]);
  return [loadArgument(1), ...refusals, [answer, 0, 0, allow]];
}

function refuseAllocation(): Instruction[] {
  return [
    loadArgument(allocation.mode),
    [jumpIfAnySet, 1, 0, allocation.givesBack],
    [answer, 0, 0, notSupported],
    [answer, 0, 0, allow],
  ];
}

function passOverBufferSizes(): Instruction[] {
  const { level, options } = bufferSizes;
  const passed = options.flatMap((option): Instruction[] => [
    [jumpIfEqual, 0, 1, option],
    [answer, 0, 0, passedOver],
  ]);
  return [
    loadArgument(1),
    [jumpIfEqual, 1, 0, level],
    [answer, 0, 0, allow],
    loadArgument(2),
    ...passed,
    [answer, 0, 0, allow],
  ];
}

function allowFamilies(): Instruction[] {
  const allowed = allowedFamilies.flatMap((family): Instruction[] => [
    [jumpIfEqual, 0, 1, family],
    [answer, 0, 0, allow],
  ]);
  return [loadArgument(0), ...allowed, [answer, 0, 0, familyNotSupported]];
}

function loadArgument(index: number): Instruction {
  return [loadWord, 0, 0, offset.arguments + 8 * index];
}

/** The same as a profile for a container engine, in the form of Docker's `--security-opt seccomp=FILE`. */
export function seccompProfile(): object {
  const families = Array.from({ length: 64 }, (_, family) => family).filter(
    (family) => family === uncountedFamily || !allowedFamilies.some((allowed) => allowed === family),
  );
  return {
    defaultAction: 'SCMP_ACT_ALLOW',
    syscalls: [
      refuse(Object.keys(denied), notPermitted),
      refuse(Object.keys(unknown), noSuchCall),
      refuse(Object.keys(usedUp), tooManyFiles),
      refuse(['clone'], notPermitted, [allSet(0, newUserNamespace)]),
      ...permissions.flatMap(({ name, mode, flags }) =>
        setIds.flatMap((bit) =>
          flags === undefined
            ? [refuse([name], notPermitted, [allSet(mode, bit)])]
            : creating.map((flag) => refuse([name], notPermitted, [allSet(flags, flag), allSet(mode, bit)])),
        ),
      ),
      ...commands.flatMap(({ name, values }) =>
        values.map((value) => refuse([name], notPermitted, [isEqual(1, value)])),
      ),
      refuse([allocation.name], notSupported, [noneSet(allocation.mode, allocation.givesBack)]),
      ...families.map((family) => refuse(Object.keys(sockets), familyNotSupported, [isEqual(0, family)])),
    ],
  };
}

function refuse(names: string[], errno: number, args: object[] = []): object {
  return { names, action: 'SCMP_ACT_ERRNO', errnoRet: errno & errnoMask, args };
}

function allSet(index: number, bits: number): object {
  return { index, value: bits, valueTwo: bits, op: 'SCMP_CMP_MASKED_EQ' };
}

function noneSet(index: number, bits: number): object {
  return { index, value: bits, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' };
}

/** For the lower half: the kernel ignores the upper one, which may contain anything. */
function isEqual(index: number, value: number): object {
  return { index, value: 0xffffffff, valueTwo: value, op: 'SCMP_CMP_MASKED_EQ' };
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
