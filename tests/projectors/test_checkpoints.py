"""A fit that was broken off goes on, and ends with the bits of one that was not."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from skfairfr import face_labels, projectors
from tests.projectors.faces import (
    GROUP,
    IDENTITY,
    MORE,
    MORE_Y,
    NOISY,
    NOISY_LR,
    Breaking,
    Counting,
    Stop,
    X,
    Y,
    assert_same_bits,
    module,
)

ROOT = Path(__file__).resolve().parents[2]


def every_other_twice(identity, group, generator):
    """A sampler that draws."""
    start = int(torch.randint(2, (1,), generator=generator))
    return np.repeat(np.arange(start, len(identity), 2), 2)


OPTIONS = {
    "plain": {},
    "patience": {
        "validation_fraction": 0.3,
        "lr": NOISY_LR,
        "patience": 2,
        "max_epochs": 12,
    },
    "sampler": {"sampler": every_other_twice, "final_lr": 1e-3},
    "residual": {"head": "residual", "optimizer": torch.optim.SGD, "batch_size": 7},
    "bfar": {"validation_fraction": 0.5, "monitor": "bfar"},
}


def break_off(directory, epoch, at, X=X, y=Y, **options):
    with pytest.raises(Stop):
        module(
            checkpoint_dir=directory, callbacks=[Breaking(epoch, at=at)], **options
        ).fit(X, y)


def go_on(directory, X=X, y=Y, **options):
    """The fit again, and how many epochs it ran."""
    seen = Counting()
    options = {"checkpoint_dir": directory, "callbacks": [seen], **options}
    return module(**options).fit(X, y), seen.n_begun


PLACES = [(1, "epoch"), (2, "epoch"), (3, "batch")]


# Daily: each option at one place, and each place without options.
BROKEN_OFF = [
    pytest.param(
        OPTIONS[name],
        *place,
        id=f"{name}-{place[0]}-{place[1]}",
        marks=() if name == "plain" or k % len(PLACES) == m else pytest.mark.slow,
    )
    for k, name in enumerate(OPTIONS)
    for m, place in enumerate(PLACES)
]


@pytest.mark.parametrize(("options", "epoch", "at"), BROKEN_OFF)
def test_a_broken_fit_ends_with_the_same_bits(tmp_path, options, epoch, at):
    data = {"X": NOISY, "y": Y}
    if "monitor" in options:
        data = {"X": MORE.X, "y": MORE_Y}
    break_off(tmp_path, epoch, at, **data, **options)
    assert len(list(tmp_path.iterdir())) == 1
    resumed, n_run = go_on(tmp_path, **data, **options)
    assert list(tmp_path.iterdir()) == []
    whole = module(**options).fit(**data)
    assert_same_bits(resumed, whole)
    done = epoch if at == "epoch" else epoch - 1
    assert n_run == len(whole.history_) - done


def test_after_patience_ended_nothing_is_trained(tmp_path):
    options = OPTIONS["patience"]
    whole = module(**options).fit(NOISY, Y)
    break_off(tmp_path, len(whole.history_), "epoch", NOISY, **options)
    resumed, n_run = go_on(tmp_path, NOISY, **options)
    assert n_run == 0 and len(whole.history_) < options["max_epochs"]
    assert_same_bits(resumed, whole)


LONG = """
import sys
from skorch.callbacks import Callback
from tests.projectors.faces import X, Y
from tests.projectors.test_checkpoints import long_fit

class Telling(Callback):
    def on_epoch_begin(self, net, **kwargs):
        print(len(net.history) - 1, flush=True)

long_fit(sys.argv[1], sys.argv[2], callbacks=[Telling()]).fit(X, Y)
"""
# What each of them keeps between epochs beside weights, where an option asks for it.
KEEPS = {
    "EthicalModule": {"kappa0": 25.0, "kappa1": 15.0, "groups": ("male", "female")},
    "FPRPenaltyProjector": {"momentum": 0.9},
    "AdversarialProjector": {"n_discriminators": 2, "discriminator_epochs": 3},
    "TripletProjector": {"sampling": "dynamic", "far": 0.01},
}
N_LONG = 80


def long_fit(name, directory, **options):
    """A projector whose fit takes seconds, and ends each of many epochs with a file."""
    usual = {"max_epochs": N_LONG, "batch_size": 64, "validation_fraction": 0.3}
    usual |= {"device": "cpu", "random_state": 0, "checkpoint_dir": directory}
    return getattr(projectors, name)(**usual, **KEEPS.get(name, {}), **options)


@pytest.mark.slow
@pytest.mark.parametrize("name", projectors.__all__)
def test_killed_at_random_times_three_times_in_succession(tmp_path, name):
    """No epoch that ended is run again, and the bits are those of one process."""
    start = time.perf_counter()
    whole = long_fit(name, tmp_path / "whole").fit(X, Y)
    seconds = (time.perf_counter() - start) / N_LONG
    directory, draw, done = tmp_path / "killed", random.Random(name), 0
    for _ in range(3):
        # Of the epochs that are left, so that there are some whatever the machine's pace.
        last = draw.randrange(done, (done + N_LONG) // 2)
        epochs = killed_in(name, directory, last, draw.uniform(0, seconds))
        # One more may have ended before its successor was told of.
        assert epochs[0] in (done, done + 1)
        assert epochs == list(range(epochs[0], epochs[-1] + 1))
        done = epochs[-1]
    seen = Counting()
    resumed = long_fit(name, directory, callbacks=[seen]).fit(X, Y)
    assert 0 < done < N_LONG and N_LONG - seen.n_begun in (done, done + 1)
    # A process killed while it writes leaves what it had written beside.
    assert list(directory.glob("*.safetensors")) == []
    assert_same_bits(resumed, whole)


def killed_in(name, directory, epoch, seconds):
    """Epochs that a process began which is killed seconds after it began this one."""
    command = [sys.executable, "-c", LONG, name, str(directory)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as child:
        epochs = []
        for line in child.stdout:
            epochs.append(int(line))
            if epochs[-1] >= epoch:
                break
        time.sleep(seconds)
        child.kill()
        epochs += map(int, child.stdout)
    assert child.returncode == -signal.SIGKILL
    return epochs


@pytest.mark.parametrize(
    "options",
    [
        {"random_state": 1},
        {"kappas": {"male": 25.0, "female": 16.0}},
        {"max_epochs": 4},
        {"sampler": every_other_twice},
        {"validation_fraction": 0.3},
    ],
)
def test_other_options_are_another_fit(tmp_path, options):
    break_off(tmp_path, 2, "epoch")
    _, n_run = go_on(tmp_path, **options)
    assert n_run == options.get("max_epochs", 3)
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.where(np.arange(160)[:, None] == 80, 0.1, X), Y),
        (X, face_labels(IDENTITY[::-1], GROUP[::-1])),
        (X, face_labels(IDENTITY.astype(str), GROUP)),
        (X[:-4], Y[:-4]),
    ],
)
def test_other_data_are_another_fit(tmp_path, X, y):
    break_off(tmp_path, 2, "epoch")
    assert go_on(tmp_path, X, y)[1] == 3


@pytest.mark.parametrize("content", [b"not a checkpoint", None])
def test_a_broken_file_is_named(tmp_path, content):
    break_off(tmp_path, 2, "epoch")
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:500] if content is None else content)
    with pytest.raises(ValueError, match=f"{path.name}' is no file.*delete it"):
        go_on(tmp_path)


def test_a_directory_is_made(tmp_path):
    go_on(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
