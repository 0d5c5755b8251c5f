"""Each wall is tried alone, so that one wall's hole is not hidden by another. Limits alone: tier D in test_tiers."""

import os
import sys

import pytest
from extras import demand_tier
from raised import raised

from grader.catalog.errors import InfrastructureError
from grader.catalog.exercise import Limits
from grader.sandbox import tiers
from grader.sandbox.forkserver import ForkServer
from grader.sandbox.mounts import Tier
from grader.worker.lockdown import landlock, seccomp

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="the walls are Linux's")]
ROOT = hasattr(os, "geteuid") and os.geteuid() == 0

FILES = {
    "read the grader's source", "read a hidden file", "list the grader's folder", "read a private file", "empty a file",
    "make a file", "list processes", "read the parent's memory map", "read the parent's environment",
    "make shared memory",
}  # fmt: skip
CALLS = {
    "unshare", "memfd_create", "shmget", "mount", "io_uring_setup", "bpf", "perf_event_open", "userfaultfd", "keyctl",
    "process_vm_readv", "ptrace", "open_by_handle_at", "change a mode", "remove a file", "connect by TCP",
    "send by UDP", "make a socket", "send a descriptor", "signal the parent", "start a process", "start a thread",
    "become root", "leave the parent's death unnoticed", "be readable to others", "let the kernel signal the parent",
    "bind the parent to a core", "limit the parent", "run a program", "empty a file",
}  # fmt: skip


def refuses(tier: Tier, wanted: set[str], others: set[str]) -> None:
    """Behind these walls what is wanted is refused, and the others are not."""
    with ForkServer(tier=tier) as fork_server:
        tried = fork_server.probe()
    refused = {name for name, outcome in tried.items() if outcome.startswith("refused")}
    assert wanted <= refused, {name: tried[name] for name in wanted - refused}
    assert not others & refused


def test_landlock_alone():
    if not landlock.abi():
        pytest.skip("this kernel has no Landlock")
    wanted = FILES | {"remove a file", "run a program"}
    wanted |= {"connect by TCP"} if landlock.abi() >= 4 else set()
    wanted |= {"signal the parent", "connect to an abstract socket"} if landlock.abi() >= 6 else set()
    refuses(Tier("D", landlock=True), wanted, {"send by UDP", "see that a hidden file exists", "memfd_create"})


def test_the_filter_alone():
    if not seccomp.available():
        pytest.skip("this kernel takes no filter")
    refuses(Tier("D", seccomp=True), CALLS, {"read a hidden file"})


@pytest.mark.skipif(not ROOT, reason="only root can become somebody else")
def test_another_user_alone():
    if not tiers.strangers_may_read([sys.base_prefix]):
        pytest.skip("the interpreter is for root alone")
    wanted = {"read a private file", "change a mode", "remove a file", "make a file", "signal the parent"}
    wanted |= {"become root", "read the parent's memory map", "limit the parent", "bind the parent to a core", "ptrace"}
    wanted |= {"start a process", "start a thread"}  # limits count, once one is no longer root
    refuses(Tier("D", uid=tiers.stranger()), wanted, {"read a hidden file"})


def test_bubblewrap_alone():
    tier = demand_tier("A")
    wanted = {"read the grader's source", "read a hidden file", "see that a hidden file exists", "empty a file"}
    wanted |= {"list the grader's folder", "read a private file", "remove a file", "make a file", "make shared memory"}
    wanted |= {"change a mode", "mount", "connect by TCP", "connect to an abstract socket", "become root"}
    refuses(Tier("D", bwrap=tier.bwrap, uid=tier.uid), wanted, {"make a socket"})


def test_a_tier_that_cannot_be_had_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "bubblewrap is not installed" in str(raised(InfrastructureError, ForkServer, tier="A"))
    assert any("bubblewrap is not installed" in reason for reason in tiers.choose().reasons)
    assert "no tier Z" in str(raised(InfrastructureError, ForkServer, tier="Z"))


def test_a_tier_that_is_refused_or_does_not_start_is_left_for_a_weaker_one(monkeypatch, tmp_path):
    false = tmp_path / "bwrap"
    false.write_text('#!/bin/sh\ncase "$*" in *" -I "*) echo bwrap: no luck today >&2; exit 1;; esac\n')
    false.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with ForkServer() as fork_server:  # a trial of bubblewrap went well
        assert fork_server.tier.name == "A"
        fork_server.spawn(Limits()).close()
        assert fork_server.tier.name in "BD" and "no luck today" in fork_server.tier.reasons[0]
    false.write_text("#!/bin/sh\necho bwrap: none today >&2\nexit 1\n")
    tier = tiers.choose()
    assert tier.name in "BD" and "none today" in tier.reasons[0]
