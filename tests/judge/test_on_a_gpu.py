"""Grading on a GPU: all solutions where there is one, and everywhere what is prepared for it."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest
import torch

from grader import catalog
from grader.catalog import paths
from grader.catalog.exercise import Limits
from grader.judge import grading
from grader.records import submission
from grader.records.results import Settings
from grader.sandbox.forkserver import CUDA_FILES, ForkServer, on_device
from grader.worker import call_state, kernels

BEFORE_A_FORK = """
import os
import threading
import torch
from grader.worker import warm_up

def name_it_and_wait(name):
    with open(f"/proc/self/task/{threading.get_native_id()}/comm", "w") as file:
        file.write(name)
    begun.set()
    done.wait()

for name in ("cuda00001400006", "pt_autograd_0"):
    begun, done = threading.Event(), threading.Event()
    thread = threading.Thread(target=name_it_and_wait, args=(name,))
    thread.start()
    begun.wait()
    print(warm_up.threads(), warm_up.threads("cuda"))
    done.set()
    thread.join()
    while len(os.listdir("/proc/self/task")) > 1:  # the kernel lists it a moment longer than Python
        pass

def refuse(*args, **kwargs):
    raise RuntimeError("a gradient")

torch.Tensor.backward = torch.autograd.grad = refuse
warm_up.warm("cuda")
print("warm")
warm_up.warm("cpu")
"""


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device on this machine")
@pytest.mark.parametrize("exercise", catalog.exercises(), ids=lambda exercise: exercise.folder)
def test_solutions_get_full_points_on_a_gpu(exercise):
    with ForkServer("cuda") as fork_server:
        handed_in = submission.read(paths.solution(exercise.folder))
        result = grading.result(exercise, handed_in, fork_server, Settings(device="cuda", seed=1))
    assert result.status == "passed", [c.message for c in result.checks]


def test_cuda_may_open_the_files_that_it_needs_and_keeps_the_other_limits():
    limits = Limits(call_s=3.0, measured=True)
    assert on_device(limits, "cpu") is limits
    assert on_device(limits, "cuda") == replace(limits, memory_mb=None, processes=None, open_files=CUDA_FILES)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no /proc")
def test_before_a_fork_a_thread_of_the_driver_does_not_count_and_no_gradient_starts_it():
    command = [sys.executable, "-c", BEFORE_A_FORK]
    one_thread = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    one_thread.pop("CUDA_VISIBLE_DEVICES", None)  # a command that another test ran in this process has set it
    done = subprocess.run(command, cwd=paths.ROOT, env=one_thread, capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines() == ["1 2", "2 2", "warm"] and "RuntimeError: a gradient" in done.stderr


@pytest.mark.parametrize("number", [one.folder[:2] for one in catalog.exercises() if one.device])
def test_what_is_judged_on_the_cpu_is_judged_there_on_every_machine(number, fork_server):
    exercise = catalog.find(number)
    handed_in = submission.read(paths.solution(exercise.folder))
    result = grading.result(exercise, handed_in, fork_server, Settings(device="cuda", seed=1))
    assert (result.status, result.device) == ("passed", "cpu")


def test_a_copy_on_a_device_is_a_leaf_with_the_same_strides():
    tensor = torch.randn(3, 4).T.requires_grad_()
    (copy,) = call_state.on_device([tensor], torch.device("meta").type + ":0")
    assert copy.is_leaf and copy.requires_grad and copy.stride() == tensor.stride() and copy.device.type == "meta"
    assert call_state.on_device([copy], "meta:0")[0] is not tensor


@pytest.mark.parametrize(
    ("needs", "device", "seccomp", "natively"),
    [
        (["triton"], "cuda", "", True),
        (["triton"], "cuda", "open", False),
        (["triton"], "cpu", "", False),
        ([], "cuda", "", False),
    ],
)
def test_kernels_are_compiled_only_where_no_sandbox_forbids_it(needs, device, seccomp, natively):
    assert kernels.are_native({"needs": needs, "device": device, "seccomp": seccomp}) is natively


def test_the_judge_starts_no_gpu_that_is_not_asked_for(said, monkeypatch):
    hidden = []
    for words in ("progress", "doctor", "check 99 --device auto"):
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        said(*words.split())
        hidden.append(os.environ.get("CUDA_VISIBLE_DEVICES") == "")
    assert hidden == [True, False, False]
