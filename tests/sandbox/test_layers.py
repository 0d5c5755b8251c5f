"""Each wall is tried alone, so that one wall's hole is not hidden by another; then the tiers."""

import os
import shutil
import sys

import pytest
from worker_calls import call, load

from grader.catalog.errors import InfrastructureError
from grader.catalog.limits import Limits
from grader.sandbox import selftest, tiers
from grader.sandbox.forkserver import ForkServer
from grader.sandbox.tiers import Tier
from grader.worker.lockdown import landlock, seccomp

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the walls are Linux's")
ROOT = hasattr(os, "geteuid") and os.geteuid() == 0

FILES = {
    "read the grader's source",
    "read a hidden file",
    "list the grader's folder",
    "read a private file",
    "empty a file",
    "make a file",
}
FILES |= {"list processes", "read the parent's memory map", "read the parent's environment", "make shared memory"}
CALLS = {
    "unshare", "memfd_create", "shmget", "mount", "io_uring_setup", "bpf", "perf_event_open", "userfaultfd", "keyctl",
    "process_vm_readv", "ptrace", "open_by_handle_at", "change a mode", "remove a file", "connect by TCP",
    "send by UDP", "make a socket", "send a descriptor", "signal the parent", "start a process", "start a thread",
    "become root", "leave the parent's death unnoticed", "be readable to others", "let the kernel signal the parent",
    "bind the parent to a core", "limit the parent", "run a program", "empty a file",
}  # fmt: skip


def probe(tier: Tier) -> tuple[set[str], dict[str, str]]:
    """What was refused behind these walls, and everything that was said."""
    with ForkServer(tier=tier) as fork_server:
        tried = fork_server.probe()
    return {name for name, outcome in tried.items() if outcome.startswith("refused")}, tried


def offered(name: str) -> Tier:
    try:
        return tiers.choose(wanted=name, sure=True)
    except tiers.Unavailable as missing:
        pytest.skip(f"this machine has no tier {name}: {missing}")


def test_landlock_alone():
    if not landlock.abi():
        pytest.skip("this kernel has no Landlock")
    refused, tried = probe(Tier("D", landlock=True))
    wanted = FILES | {"remove a file", "run a program"}
    wanted |= {"connect by TCP"} if landlock.abi() >= 4 else set()
    wanted |= {"signal the parent", "connect to an abstract socket"} if landlock.abi() >= 6 else set()
    assert wanted <= refused, {name: tried[name] for name in wanted - refused}
    assert {"send by UDP", "see that a hidden file exists", "memfd_create"} & refused == set()


@pytest.mark.parametrize("mode", ["open", "closed"])
def test_the_filter_alone(mode):
    if not seccomp.available():
        pytest.skip("this kernel takes no filter")
    refused, tried = probe(Tier("D", seccomp=mode))
    wanted = CALLS | ((FILES | {"see that a hidden file exists"}) if mode == "closed" else set())
    assert wanted <= refused, {name: tried[name] for name in wanted - refused}
    assert mode == "closed" or "read a hidden file" not in refused


@pytest.mark.skipif(not ROOT, reason="only root can become somebody else")
def test_another_user_alone():
    if not tiers.strangers_may_read([sys.base_prefix]):
        pytest.skip("the interpreter is for root alone")
    refused, tried = probe(Tier("D", uid=tiers.stranger()))
    wanted = {
        "read a private file",
        "change a mode",
        "remove a file",
        "make a file",
        "signal the parent",
        "become root",
    }
    wanted |= {"read the parent's memory map", "limit the parent", "bind the parent to a core", "ptrace"}
    wanted |= {"start a process", "start a thread"}  # limits count, once one is no longer root
    assert wanted <= refused, {name: tried[name] for name in wanted - refused}
    assert "read a hidden file" not in refused


def test_bubblewrap_alone():
    tier = offered("A")
    refused, tried = probe(Tier("D", bwrap=tier.bwrap, uid=tier.uid))
    wanted = {
        "read the grader's source",
        "read a hidden file",
        "see that a hidden file exists",
        "list the grader's folder",
        "read a private file",
    }
    wanted |= {"empty a file", "remove a file", "make a file", "make shared memory", "change a mode", "mount"}
    wanted |= {"connect by TCP", "connect to an abstract socket", "become root"}
    assert wanted <= refused, {name: tried[name] for name in wanted - refused}
    assert "make a socket" not in refused


def test_limits_alone():
    source = """
import os

def memory():
    return len(bytearray(1 << 30))

def files():
    found = []
    while True:
        found.append(os.dup(3))

def fork():
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    return pid

def write(path):
    with open(path, "w") as file:
        file.write("x" * 100)
"""
    with ForkServer(tier=Tier("D")) as fork_server:
        worker = fork_server.spawn(Limits(memory_mb=200))
        load(worker, source)
        assert call(worker, "memory").error["type"] == "MemoryError"
        assert call(worker, "files").error["type"] == "OSError"
        if not ROOT:
            assert call(worker, "fork").error["type"] == "BlockingIOError"
        worker.close()


@pytest.mark.parametrize("name", ["A", "B", "C"])
def test_a_tier_keeps_its_promise(name):
    with ForkServer(tier=offered(name).name) as fork_server:
        record = fork_server.sandbox
    assert record.holes == ()
    assert record.tier == name and record.torch and record.kernel
    assert len(record.probe) >= 35
    done = {attempt for attempt, outcome in record.probe.items() if outcome == "done"}
    assert done == set(selftest.UNPROMISED[name])


def test_the_last_tier_says_that_it_protects_nothing():
    with ForkServer(tier="D") as fork_server:
        assert fork_server.sandbox.probe["read a hidden file"] == "done"
        assert fork_server.sandbox.layers[-2:] == ("limits", "own process")
        assert not {"bubblewrap", "Landlock", "seccomp"} & set(fork_server.sandbox.layers)


@pytest.mark.parametrize("name", ["A", "B", "C"])
def test_learners_may_import_what_torch_and_python_have(name):
    source = """
def late():
    import math, statistics, fractions, decimal, textwrap, json, string, numpy.random, torch.nn.utils.rnn
    import torch.optim.lr_scheduler, torch.func
    from torch.nn.utils.parametrizations import orthogonal
    layer = torch.nn.Linear(2, 2)
    optimizer = torch.optim.Adam(layer.parameters())
    layer(torch.ones(3, 2)).sum().backward()
    optimizer.step()
    gradient = torch.func.grad(lambda x: (x**2).sum())(torch.ones(2))
    return [statistics.mean([1, 2, 3]), gradient.tolist(), torch.ones(2).half().exp().shape[0]]
"""
    with ForkServer(tier=offered(name).name) as fork_server:
        worker = fork_server.spawn(Limits())
        assert load(worker, "import torch\n" + source).error is None
        reply = call(worker, "late", 30)
        worker.close()
    assert reply.value == ["list", [2, ["list", [2.0, 2.0]], 2]], reply


def test_a_tier_that_cannot_be_had_is_refused(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(InfrastructureError, match="bubblewrap is not installed"):
        ForkServer(tier="A")
    assert any("bubblewrap is not installed" in reason for reason in tiers.choose().reasons)
    with pytest.raises(InfrastructureError, match="no tier Z"):
        ForkServer(tier="Z")


def test_a_tier_that_does_not_start_is_left_for_a_weaker_one(monkeypatch, tmp_path):
    false = tmp_path / "bwrap"
    false.write_text("#!/bin/sh\necho bwrap: no luck today >&2\nexit 1\n")
    false.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda name: str(false))
    monkeypatch.setattr(tiers, "_doubtful", lambda: False)
    with ForkServer() as fork_server:
        fork_server.spawn(Limits()).close()
        assert fork_server.tier.name in "BCD"
        assert "no luck today" in fork_server.tier.reasons[0]
