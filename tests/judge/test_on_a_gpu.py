"""Grading on a GPU: all solutions where there is one, and everywhere what is prepared for it."""

import argparse
import os
import sys
import tempfile
import threading
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from raised import raised
from waiting import soon

from grader import catalog
from grader import cli as command_line
from grader.catalog import paths
from grader.catalog.exercise import Limits
from grader.judge import examiner, grading
from grader.records import submission
from grader.records.results import Settings
from grader.sandbox.forkserver import CUDA_FILES, ForkServer, on_device
from grader.worker import call_state, kernels, warm_up


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
    first = examiner.limits_of(catalog.find("03"), Settings(device="cuda"))
    assert (first.call_s, first.call_cpu_s) == (examiner.DEVICE_CALL_S, None)  # the first call starts CUDA


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no /proc")
@pytest.mark.parametrize("name, counted", [("cuda00001400006", [0, 1]), ("pt_autograd_0", [1, 1])])
def test_before_a_fork_a_thread_of_the_driver_does_not_count(name, counted):
    begun, done = threading.Event(), threading.Event()

    def take_the_name_and_wait() -> None:
        Path(f"/proc/self/task/{threading.get_native_id()}/comm").write_text(name)
        begun.set()
        done.wait()

    before = [warm_up.threads(), warm_up.threads("cuda")]
    threading.Thread(target=take_the_name_and_wait, daemon=True).start()
    begun.wait()
    assert [warm_up.threads() - before[0], warm_up.threads("cuda") - before[1]] == counted
    done.set()
    assert soon(lambda: warm_up.threads("cuda") == before[1])  # the kernel lists it a moment longer than Python


def test_before_a_fork_no_gradient_starts_the_driver(monkeypatch):
    for home, name, value in ((torch.Tensor, "backward", None), (tempfile, "tempdir", tempfile.tempdir)):
        monkeypatch.setattr(home, name, value)
    monkeypatch.setattr(torch, "set_num_threads", lambda count: None)
    warm_up.warm("cuda")
    raised(TypeError, warm_up.warm, "cpu")


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


def test_kernels_are_compiled_only_where_no_sandbox_forbids_it():
    plan = {"needs": ["triton"], "device": "cuda", "seccomp": ""}
    others = {"needs": []}, {"device": "cpu"}, {"seccomp": "open"}
    assert kernels.are_native(plan) and not any(kernels.are_native(plan | other) for other in others)


def test_the_judge_starts_no_gpu_that_is_not_asked_for(monkeypatch):
    read, hidden = command_line.options_of, []

    def idle(words: list[str], command: str) -> argparse.Namespace:
        return argparse.Namespace(**vars(read(words, command)) | {"run": lambda options: 0})

    monkeypatch.setattr(command_line, "options_of", idle)
    for words in ("progress", "doctor", "check 99 --device auto"):
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        assert command_line.main(words.split()) == 0
        hidden.append(os.environ.get("CUDA_VISIBLE_DEVICES") == "")
    assert hidden == [True, False, False]
