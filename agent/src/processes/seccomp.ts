/**
 * The system calls that a run may not make. The list is what Docker's default profile denies to a container
 * without capabilities, and what would let one process of a run read or change another (ptrace and its
 * relatives). Everything else is allowed.
 */
import { constants } from 'node:os';

/** Numbers of a system call on x86_64 and on arm64; null where an architecture does not have it. */
type Numbers = readonly [x64: number | null, arm64: number | null];

const denied: Readonly<Record<string, Numbers>> = {
  acct: [163, 89],
  add_key: [248, 217],
  adjtimex: [159, 171],
  bpf: [321, 280],
  chroot: [161, 51],
  clock_adjtime: [305, 266],
  clock_settime: [227, 112],
  create_module: [174, null],
  delete_module: [176, 106],
  finit_module: [313, 273],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fsopen: [430, 430],
  fspick: [433, 433],
  get_kernel_syms: [177, null],
  init_module: [175, 105],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  io_uring_setup: [425, 425],
  ioperm: [173, null],
  iopl: [172, null],
  kcmp: [312, 272],
  kexec_file_load: [320, 294],
  kexec_load: [246, 104],
  keyctl: [250, 219],
  lookup_dcookie: [212, 18],
  modify_ldt: [154, null],
  mount: [165, 40],
  mount_setattr: [442, 442],
  move_mount: [429, 429],
  nfsservctl: [180, 42],
  open_by_handle_at: [304, 265],
  open_tree: [428, 428],
  perf_event_open: [298, 241],
  pidfd_getfd: [438, 438],
  pivot_root: [155, 41],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  ptrace: [101, 117],
  query_module: [178, null],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  reboot: [169, 142],
  request_key: [249, 218],
  setns: [308, 268],
  settimeofday: [164, 170],
  swapoff: [168, 225],
  swapon: [167, 224],
  sysfs: [139, null],
  syslog: [103, 116],
  umount2: [166, 39],
  unshare: [272, 97],
  uselib: [134, null],
  userfaultfd: [323, 282],
  vhangup: [153, 58],
};

interface Architecture {
  /** AUDIT_ARCH_… of linux/audit.h. */
  readonly audit: number;
  readonly clone: number;
  readonly ioctl: number;
  readonly column: 0 | 1;
}

const architectures: Readonly<Partial<Record<NodeJS.Architecture, Architecture>>> = {
  x64: { audit: 0xc000003e, clone: 56, ioctl: 16, column: 0 },
  arm64: { audit: 0xc00000b7, clone: 220, ioctl: 29, column: 1 },
};

/** The same number everywhere. */
const clone3 = 435;
/** Every CLONE_NEW… flag of linux/sched.h that fits into the flags of `clone`. */
const namespaceFlags = 0x7e020000;
/** Requests that put characters into a terminal as if a person had typed them. */
const terminalRequests = [0x5412, 0x541c];
/** Set in the numbers of the x32 interface of x86_64. */
const x32Bit = 0x40000000;

// struct seccomp_data of linux/seccomp.h: number, architecture, instruction pointer, arguments.
const offsets = { number: 0, architecture: 4, firstArgument: 16, secondArgument: 24 } as const;
// Instructions of linux/bpf_common.h, and results of linux/seccomp.h.
const load = 0x20;
const jumpIfEqual = 0x15;
const jumpIfAtLeast = 0x35;
const jumpIfAnyBit = 0x45;
const end = 0x06;
const allow = 0x7fff0000;
const refuse = (errno: number) => 0x00050000 | errno;

type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, operand: number];

/**
 * The filter as bubblewrap reads it: an array of `struct sock_filter`, little-endian.
 * @returns null for an architecture whose numbers are not known
 */
export function seccompFilter(architecture: NodeJS.Architecture = process.arch): Buffer | null {
  const known = architectures[architecture];
  if (known === undefined) return null;
  const { EPERM, ENOSYS } = constants.errno;
  const numbers = Object.values(denied)
    .map((each) => each[known.column])
    .filter((number) => number !== null);
  const program: Instruction[] = [
    [load, 0, 0, offsets.architecture],
    ...unless(jumpIfEqual, known.audit, ENOSYS),
    [load, 0, 0, offsets.number],
    ...(known.column === 0 ? when(jumpIfAtLeast, x32Bit, ENOSYS) : []),
    ...numbers.flatMap((number) => when(jumpIfEqual, number, EPERM)),
    // Its flags are in memory, which a filter cannot read: callers fall back to `clone`.
    ...when(jumpIfEqual, clone3, ENOSYS),
    ...onlyFor(known.clone, [
      [load, 0, 0, offsets.firstArgument],
      ...when(jumpIfAnyBit, namespaceFlags, EPERM),
    ]),
    ...onlyFor(known.ioctl, [
      [load, 0, 0, offsets.secondArgument],
      ...terminalRequests.flatMap((request) => when(jumpIfEqual, request, EPERM)),
    ]),
    [end, 0, 0, allow],
  ];
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, jumpTrue, jumpFalse, operand]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(jumpTrue, index * 8 + 2);
    bytes.writeUInt8(jumpFalse, index * 8 + 3);
    bytes.writeUInt32LE(operand >>> 0, index * 8 + 4);
  }
  return bytes;
}

function when(test: number, operand: number, errno: number): Instruction[] {
  return [
    [test, 0, 1, operand],
    [end, 0, 0, refuse(errno)],
  ];
}

function unless(test: number, operand: number, errno: number): Instruction[] {
  return [
    [test, 1, 0, operand],
    [end, 0, 0, refuse(errno)],
  ];
}

/** Instructions that change what is loaded, for one number; the number is loaded again afterwards. */
function onlyFor(number: number, instructions: readonly Instruction[]): Instruction[] {
  return [[jumpIfEqual, 0, instructions.length + 1, number], ...instructions, [load, 0, 0, offsets.number]];
}
