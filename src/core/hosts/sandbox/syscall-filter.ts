/**
 * System calls that no command in a sandbox has a use for and that are the usual ways to a hole in the kernel: they fail
 * with EPERM or, where libraries know another way, ENOSYS. A program of the kernel's packet filter (seccomp(2)), as bytes.
 * New user namespaces are among them, for bubblewrap before 0.8 can not forbid them. Pure.
 */

interface Machine {
  /** `AUDIT_ARCH_…` of linux/audit.h. */
  readonly audit: number;
  readonly clone: number;
  readonly denied: readonly number[];
  /** Libraries take another way. */
  readonly missing: readonly number[];
  /** Where a second set of calls begins (x32). */
  readonly second?: number;
}

/** The same number everywhere (asm-generic/unistd.h). */
const NEW_MOUNTS = [428, 429, 430, 431, 432, 433, 442, 443];
const IO_URING = [425, 426, 427];
const CLONE3 = 435;

const MACHINES: Readonly<Record<string, Machine>> = {
  x64: {
    audit: 0xc000003e,
    clone: 56,
    denied: [
      // Keys of the account, and the programs that the kernel starts for them.
      ...[248, 249, 250],
      // Mounts, namespaces, roots.
      ...[155, 161, 165, 166, 272, 308, ...NEW_MOUNTS],
      // Kernel code, and images to start instead.
      ...[174, 175, 176, 177, 178, 180, 246, 313, 320],
      // Watching and changing the machine: bpf, perf, userfaultfd, fanotify, ports, the log, swap, accounting, quota, clock.
      ...[
        103, 134, 136, 139, 154, 156, 163, 164, 167, 168, 169, 170, 171, 172, 173, 179, 212, 227, 298, 300, 305, 321,
        323,
      ],
      // Files by handle, pages and descriptors of others.
      ...[256, 279, 303, 304, 312],
    ],
    missing: [...IO_URING, CLONE3],
    second: 0x40000000,
  },
  arm64: {
    audit: 0xc00000b7,
    clone: 220,
    denied: [
      ...[217, 218, 219],
      ...[39, 40, 41, 51, 97, 268, ...NEW_MOUNTS],
      ...[42, 104, 105, 106, 273, 294],
      ...[18, 60, 89, 112, 116, 142, 161, 162, 170, 224, 225, 241, 262, 266, 280, 282],
      ...[238, 239, 264, 265, 272],
    ],
    missing: [...IO_URING, CLONE3],
  },
};

const LOAD = 0x20;
const EQUAL = 0x15;
const AT_LEAST = 0x35;
const ANY_BIT = 0x45;
const RETURN = 0x06;
/** Offsets in `struct seccomp_data`. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const FIRST_ARGUMENT = 16;
const ALLOW = 0x7fff0000;
const ERRNO = 0x00050000;
const EPERM = ERRNO | 1;
const ENOSYS = ERRNO | 38;
const CLONE_NEWUSER = 0x10000000;

type Instruction = readonly [code: number, yes: number, no: number, value: number];

/** `arch` as in `process.arch`; undefined where the numbers are not known. */
export function syscallFilter(arch: string): Buffer | undefined {
  const machine = MACHINES[arch];
  if (machine === undefined) return undefined;
  const refuse = (number: number, answer: number): Instruction[] => [
    [EQUAL, 0, 1, number],
    [RETURN, 0, 0, answer],
  ];
  const program: Instruction[] = [
    [LOAD, 0, 0, ARCHITECTURE],
    // 32-bit programs have numbers of their own: none of their calls is made.
    [EQUAL, 1, 0, machine.audit],
    [RETURN, 0, 0, EPERM],
    [LOAD, 0, 0, NUMBER],
    ...(machine.second === undefined
      ? []
      : ([
          [AT_LEAST, 0, 1, machine.second],
          [RETURN, 0, 0, ENOSYS],
        ] satisfies Instruction[])),
    ...machine.denied.flatMap((number) => refuse(number, EPERM)),
    ...machine.missing.flatMap((number) => refuse(number, ENOSYS)),
    [EQUAL, 0, 3, machine.clone],
    [LOAD, 0, 0, FIRST_ARGUMENT],
    [ANY_BIT, 0, 1, CLONE_NEWUSER],
    [RETURN, 0, 0, EPERM],
    [RETURN, 0, 0, ALLOW],
  ];
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(([code, yes, no, value], at) => {
    bytes.writeUInt16LE(code, at * 8);
    bytes.writeUInt8(yes, at * 8 + 2);
    bytes.writeUInt8(no, at * 8 + 3);
    bytes.writeUInt32LE(value, at * 8 + 4);
  });
  return bytes;
}
