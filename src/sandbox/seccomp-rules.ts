/** What the system-call filter refuses: call numbers on x64 and on arm64; null if an architecture has no such call. */
type Numbers = readonly [x64: number | null, arm64: number | null];
type Calls = Readonly<Record<string, Numbers>>;

/** Calls that fail with "not permitted". */
export const denied = {
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
  open_tree_attr: [467, 467],
  // Settings of files that permissions don't show, such as a project quota.
  file_setattr: [469, 469],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  // The host's kernel log.
  syslog: [103, 116],
  fanotify_init: [300, 262],
  kcmp: [312, 272],
  // Memory that is not accounted to any process.
  vmsplice: [278, 75],
  memfd_secret: [447, 447],
} as const satisfies Calls;

/** Fail with "no such call": programs fall back to others, whose flags are not in memory, where no filter can look. */
export const unknown = { clone3: [435, 435], openat2: [437, 437] } as const satisfies Calls;

/** The kernel allows each user few, and the harness's user may be the agent's. Programs fall back to polling. */
export const usedUp = { inotify_init: [253, null], inotify_init1: [294, 26] } as const satisfies Calls;

/** Memory that belongs to no process, which nothing would limit without control groups. Fail with "no such call". */
export const uncounted = { memfd_create: [319, 279] } as const satisfies Calls;

/** What outlives the process that makes it, and would be there for later commands. Fail with "no such call". */
export const lasting = {
  shmget: [29, 194],
  msgget: [68, 186],
  semget: [64, 190],
  mq_open: [240, 180],
} as const satisfies Calls;

/**
 * The buffers of a socket are such memory and keep their default size: changing it appears to succeed, as it does
 * beyond the system's own limit. Options of `SOL_SOCKET`: `SO_SNDBUF`, `SO_RCVBUF` and their unlimited forms.
 */
export const bufferSizes = { call: [54, 208], level: 1, options: [7, 8, 32, 33] } as const;

/** The highest call when this was written (Linux 6.18): later ones have not been reviewed. */
export const lastKnownCall = 469;

/**
 * Calls that set the permissions of a file, with the position of that argument, and of the flags if they create a file
 * only with `O_CREAT`.
 */
export const permissions: readonly { name: string; call: Numbers; mode: number; flags?: number }[] = [
  { name: 'chmod', call: [90, null], mode: 1 },
  { name: 'fchmod', call: [91, 52], mode: 1 },
  { name: 'fchmodat', call: [268, 53], mode: 2 },
  { name: 'fchmodat2', call: [452, 452], mode: 2 },
  { name: 'creat', call: [85, null], mode: 1 },
  { name: 'mknod', call: [133, null], mode: 1 },
  { name: 'mknodat', call: [259, 33], mode: 2 },
  { name: 'open', call: [2, null], mode: 2, flags: 1 },
  { name: 'openat', call: [257, 56], mode: 3, flags: 2 },
];
/** Setuid and setgid: nothing in a workspace may ask for them. */
export const setIds = [0o4000, 0o2000] as const;
/** `O_CREAT`, `O_TMPFILE`. */
export const creating = [0o100, 0o20000000] as const;

/** Refused values of the second argument. */
export const commands: readonly { name: string; call: Numbers; values: readonly number[] }[] = [
  // F_SETLEASE and F_NOTIFY: a process with mere read access to a file could make programs of the host wait for it.
  { name: 'fcntl', call: [72, 25], values: [1024, 1026] },
  // TIOCSTI, TIOCLINUX, FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_ADD_ENCRYPTION_KEY. And those that take disk space
  // without writing: XFS_IOC_ALLOCSP, …ALLOCSP64, FS_IOC_RESVSP, …RESVSP64, …ZERO_RANGE.
  {
    name: 'ioctl',
    call: [16, 29],
    values: [
      ...[0x5412, 0x541c, 0x40086602, 0x401c5820, 0xc0506617],
      ...[0x4030580a, 0x40305824, 0x40305828, 0x4030582a, 0x40305839],
    ],
  },
];

/**
 * Allocates gigabytes of disk space before the watchdog can react. Fails with "not supported", as on many file systems:
 * programs write instead. One flag releases space and is allowed: FALLOC_FL_PUNCH_HOLE.
 */
export const allocation = { name: 'fallocate', call: [285, 47], mode: 1, givesBack: 0o2 } as const;

/** Calls that make sockets. */
export const sockets = { socket: [41, 198], socketpair: [53, 199] } as const satisfies Calls;
/**
 * AF_UNIX, AF_INET, AF_INET6, AF_NETLINK: all of them limited to the (empty) network namespace or to a mounted file.
 */
export const allowedFamilies = [1, 2, 10, 16] as const;
/**
 * In a container the harness can't measure the data in netlink's answers, so netlink is refused: programs do without.
 */
export const uncountedFamily = 16;
