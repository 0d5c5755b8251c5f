"""The filter is simulated over all system calls and compared with the written list."""

import itertools
import random
import re
from pathlib import Path

import bpf
import pytest

from grader.worker.lockdown import seccomp

PID, X86, ARM, X32 = 4711, 0xC000003E, 0xC00000B7, 0x40000000
MACHINES = {"x86_64": (X86, 0), "aarch64": (ARM, 1)}
HEADERS = {
    "x86_64": ["/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h"],
    "aarch64": ["/usr/include/asm-generic/unistd.h"],
}
TOP = (1 << 64) - 1
# What each checked call may be asked, written a second time by another hand: in words of Python.
RIGHT = {
    "fcntl": lambda a: a[1] in (0, 1, 2, 3, 1030),
    "ioctl": lambda a: a[1] == 0x5401,
    "tgkill": lambda a: a[0] == PID,
    "prlimit64": lambda a: a[0] == 0 and a[2] == 0,
    "prctl": lambda a: a[0] in (15, 16),
}
# The worst, by number: x86-64, aarch64. They must be refused whatever any table of ours says.
NEVER = {
    "clone": (56, 220), "fork": (57, None), "vfork": (58, None), "clone3": (435, 435), "execve": (59, 221),
    "execveat": (322, 281), "ptrace": (101, 117), "kill": (62, 129), "tkill": (200, 130), "socket": (41, 198),
    "socketpair": (53, 199), "connect": (42, 203), "bind": (49, 200), "sendmsg": (46, 211), "sendmmsg": (307, 269),
    "recvmsg": (47, 212), "mount": (165, 40), "unshare": (272, 97), "setns": (308, 268), "bpf": (321, 280),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "perf_event_open": (298, 241),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "memfd_create": (319, 279),
    "userfaultfd": (323, 282), "unlink": (87, None), "unlinkat": (263, 35), "rename": (82, None),
    "renameat2": (316, 276), "truncate": (76, 45), "ftruncate": (77, 46), "chmod": (90, None), "fchmod": (91, 52),
    "fchmodat": (268, 53), "chown": (92, None), "utimensat": (280, 88), "link": (86, None), "symlinkat": (266, 36),
    "mkdirat": (258, 34), "mknodat": (259, 33), "chdir": (80, 49), "chroot": (161, 51), "pivot_root": (155, 41),
    "setuid": (105, 146), "setresuid": (117, 147), "setgroups": (116, 159), "capset": (126, 91), "keyctl": (250, 219),
    "shmget": (29, 194), "semget": (64, 190), "msgget": (68, 186), "mq_open": (240, 180), "seccomp": (317, 277),
    "sched_setaffinity": (203, 122), "setpriority": (141, 140), "setrlimit": (160, 164), "kexec_load": (246, 104),
    "init_module": (175, 105), "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264),
    "pidfd_open": (434, 434), "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424), "splice": (275, 76),
    "rt_sigqueueinfo": (129, 138), "setsid": (112, 157), "openat2": (437, 437), "mlock": (149, 228),
    "landlock_restrict_self": (446, 446),
}  # fmt: skip


def written(machine: str, device: str) -> tuple[dict, dict]:
    """From the tables alone: numbers that are free, and numbers that are checked, with their names."""
    column = MACHINES[machine][1]
    free = {**seccomp.ALWAYS, **seccomp.FILES, **(seccomp.CUDA if device == "cuda" else {})}
    checked = {name: numbers for name, (numbers, _) in seccomp.CHECKED.items() if name not in free}
    if device == "cuda":
        checked |= {name: numbers for name, (numbers, _) in seccomp.CUDA_CHECKED.items()}
    return (
        {numbers[column]: name for name, numbers in free.items() if numbers[column] is not None},
        {numbers[column]: name for name, numbers in checked.items()},
    )


def differences(program: list, machine: str, device: str) -> list[str]:
    """Where the simulated program and the written list do not agree, over all calls."""
    code, _ = MACHINES[machine]
    free, checked = written(machine, device)
    found = []
    for number in range(1024):
        if number in checked:
            continue
        said = bpf.run(program, number, code)
        unknown = device == "cuda" and number == 435
        wanted = "allow" if number in free else "errno 38" if unknown else "errno 1"
        if said != wanted:
            found.append(f"{number} ({free.get(number, '?')}): {said}, not {wanted}")
    return found


def test_every_number_does_what_the_list_says():
    for machine, device in itertools.product(MACHINES, ("cpu", "cuda")):
        program = seccomp.build(machine, PID, device)
        assert differences(program, machine, device) == []
        assert len(program) < 4096 and all(0 <= jump < 256 for _, yes, no, _ in program for jump in (yes, no))
        before = seccomp.Filter(seccomp.build(machine, seccomp.LATER, device))
        before.belong_to(PID)  # what is made before a fork becomes the filter of the fork
        assert before.code.raw == seccomp.Filter(program).code.raw
        refuses_the_worst(program, machine, device)


def refuses_the_worst(program: list, machine: str, device: str) -> None:
    """Whatever any table of ours says."""
    code, column = MACHINES[machine]
    gpu = {"clone", "ftruncate", "mlock", "bind", "unlink", "unlinkat"} if device == "cuda" else set()
    for name, numbers in NEVER.items():
        if numbers[column] is not None and name not in gpu:
            for arguments in ((1,), (PID + 1, 0, 0), (7, 1, 2), (TOP,) * 6):
                assert bpf.run(program, numbers[column], code, arguments) in ("errno 1", "errno 38"), name


@pytest.mark.parametrize("machine", MACHINES)
def test_other_numberings_kill(machine):
    program, (code, _) = seccomp.build(machine, PID), MACHINES[machine]
    for other in (0, 0x40000003, 0x40000028, X86, ARM, 0xC0000000, 0x3E, TOP & 0xFFFFFFFF):
        for number in range(0, 1024, 3) if other != code else ():
            assert bpf.run(program, number, other) == "kill"
    high = [X32 + number for number in range(1024)] + [0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFE]
    for number in high:
        assert bpf.run(program, number, code) == ("kill" if machine == "x86_64" else "errno 1")


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", seccomp.CHECKED)
def test_arguments_are_looked_at_in_full(machine, name):
    code, column = MACHINES[machine]
    numbers, lines = seccomp.CHECKED[name]
    program = seccomp.build(machine, PID)
    special = [0, 1, 2, 3, 4, 10, 15, 16, 17, 1030, 0x5401, 0x5412, PID, PID + 1, -1, 1 << 31, 1 << 32, TOP]
    special += [value + (1 << 32) for value in special] + [value ^ (1 << 63) for value in special]
    dice = random.Random(name)
    cases = [(a, b, c, 0, 0, 0) for a in special for b in special for c in (0, 1, 1 << 32, TOP)]
    cases += [tuple(dice.getrandbits(dice.choice((8, 16, 33, 64))) for _ in range(6)) for _ in range(3000)]
    said = set()
    for case in cases:
        case = tuple(argument & TOP for argument in case)
        allowed = bpf.run(program, numbers[column], code, case) == "allow"
        assert allowed == RIGHT[name](case), (name, case)
        said.add(allowed)
    assert said == {True, False}, f"{lines} was never tried both ways"


@pytest.mark.parametrize("machine", MACHINES)
def test_a_gpu_s_driver_gets_threads_and_a_socket_and_nothing_more(machine):
    code, column = MACHINES[machine]
    number = seccomp.CUDA_CHECKED["clone"][0][column]
    program = seccomp.build(machine, PID, "cuda")
    assert bpf.run(program, number, code, (0x3D0F00,)) == "allow"  # what pthread_create asks for
    assert bpf.run(program, number, code, (0x11,)) == "errno 1"  # fork
    number = seccomp.CUDA_CHECKED["sched_setaffinity"][0][column]
    said = [bpf.run(program, number, code, (pid,)) for pid in (0, PID, 1, PID - 1, PID + (1 << 32))]
    assert said == ["allow", "allow", "errno 1", "errno 1", "errno 1"]
    number, (unix, internet, packets, streams, cloexec) = (
        seccomp.CUDA_CHECKED["socket"][0][column],
        (1, 2, 5, 1, 1 << 19),
    )
    assert bpf.run(program, number, code, (unix, packets | cloexec, 0)) == "allow"  # nobody else listens at such a one
    for arguments in ((unix, streams | cloexec), (unix, packets), (internet, packets | cloexec), (internet, streams)):
        assert bpf.run(program, number, code, arguments) == "errno 1"
    number = seccomp.CUDA_CHECKED["clone"][0][column]
    for bit in (7, 17, 25, 26, 27, 28, 29, 30):  # every namespace
        assert bpf.run(program, number, code, (0x3D0F00 | 1 << bit,)) == "errno 1"


@pytest.mark.parametrize("machine", MACHINES)
def test_numbers_are_the_kernel_s_own(machine):
    header = next((Path(path) for path in HEADERS[machine] if Path(path).exists()), None)
    if header is None:
        pytest.skip("the kernel's headers are not installed here (apt install linux-libc-dev)")
    text = header.read_text() + "\n#define __NR_fcntl 25\n#define __NR_lseek 62\n#define __NR_mmap 222\n"
    text += "#define __NR_fstat 80\n#define __NR_newfstatat 79\n#define __NR_statfs 43\n#define __NR_fstatfs 44\n"
    text += "#define __NR_ftruncate 46\n#define __NR_truncate 45\n" if machine == "aarch64" else ""
    kernel: dict[str, int] = {}
    for name, number in re.findall(r"^#define __NR(?:3264)?_(\w+)\s+(\d+)$", text, re.MULTILINE):
        kernel.setdefault(name, int(number))
    _, column = MACHINES[machine]
    tables = {**seccomp.ALWAYS, **seccomp.FILES, **seccomp.CUDA, **NEVER, **seccomp.NOT_THERE}
    tables |= {name: numbers for name, (numbers, _) in {**seccomp.CHECKED, **seccomp.CUDA_CHECKED}.items()}
    for name, numbers in tables.items():
        if numbers[column] is not None:
            assert kernel.get(name) == numbers[column], name


def test_one_wrong_jump_would_be_noticed():
    honest = seccomp.build("x86_64", PID)
    noticed = 0
    for at, (code, yes, no, constant) in enumerate(honest):
        if code != 0x15 or at < 2:
            continue
        broken = list(honest)
        broken[at] = (code, yes, no + 1, constant)
        try:
            noticed += bool(differences(broken, "x86_64", "cpu"))
        except (IndexError, AssertionError):
            noticed += 1
    assert noticed > 60
    everything = [*honest[:-1], (0x06, 0, 0, bpf.ALLOW)]
    assert len(differences(everything, "x86_64", "cpu")) > 900
