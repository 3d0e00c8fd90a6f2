"""The edge to torch: devices, generators and precision. Only training code imports it."""

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from math import inf
from threading import Lock, local

from skfairfr._core._parallel import is_sharing_worker

PRECISIONS = ("float32", "tf32", "bfloat16")
# What torch, and what it stands on, says in a RuntimeError where memory runs out.
_NO_MEMORY = re.compile(
    r"can't allocate memory|out of memory|[Cc]annot allocate memory|bad_alloc"
    r"|can't start new thread|could not create a (memory|primitive)"
)
_ASKED_FOR = re.compile(r"tried to allocate (\d+) bytes")


def choose_device(device):
    """The torch device of a name; "auto" is the accelerator where there is one.

    Raises
    ------
    ValueError
        If the name is unknown or no such device is at hand.
    """
    import torch

    # A file may hold anything in its place, an array too.
    if isinstance(device, str) and device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(device)
    except (RuntimeError, TypeError, ValueError):
        chosen = None
    if chosen is None or chosen.type not in ("cpu", "cuda"):
        raise ValueError(f"device must be 'auto', 'cpu' or 'cuda'; got {device!r}.")
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(
            f"device={device!r} was asked for, but torch finds no CUDA device; use "
            "device='auto' or 'cpu', or install a torch build with CUDA."
        )
    if chosen.type == "cuda" and (chosen.index or 0) >= torch.cuda.device_count():
        raise ValueError(
            f"device={device!r} was asked for, but torch finds "
            f"{torch.cuda.device_count()} CUDA devices."
        )
    return chosen


def new_generator(random_state):
    """A torch generator on the CPU, seeded by a numpy RandomState.

    Drawn on the CPU whatever the device, so that batches are the same everywhere.
    """
    import torch

    return torch.Generator().manual_seed(int(random_state.randint(2**31 - 1)))


def new_linear(n_in, n_out, generator=None):
    """An ``nn.Linear`` with its usual distribution, drawn with an explicit generator."""
    from torch import nn

    layer = nn.utils.skip_init(nn.Linear, n_in, n_out)
    bound = n_in**-0.5
    for parameter in layer.parameters():
        nn.init.uniform_(parameter, -bound, bound, generator=generator)
    return layer


@contextmanager
def memory_errors():
    """Make torch's errors for lack of memory a MemoryError, as numpy's are.

    Raises
    ------
    MemoryError
        With what was asked for, where torch says it.
    """
    try:
        yield
    except RuntimeError as error:
        told = str(error)
        if not _NO_MEMORY.search(told):
            raise
        asked = _ASKED_FOR.search(told)
        what = f"what torch needs ({told.splitlines()[0][:80]})"
        if asked:
            what = f"{int(asked[1]) / 1e9:.2g} GB for a tensor"
        raise MemoryError(
            f"Unable to allocate {what}; a smaller batch_size, hidden_dim or output_dim "
            "needs less"
        ) from None


@contextmanager
def precision_of_products(precision, device):
    """Take matrix products in ``precision``; restore the settings afterwards.

    A block inside another has its own precision.

    Raises
    ------
    ValueError
        If the device cannot: TF32 needs an accelerator.
    """
    import torch

    if precision == "tf32" and device.type != "cuda":
        raise ValueError(
            f"precision='tf32' needs device='cuda', but the device is {device.type!r}; "
            "use 'float32', or 'bfloat16'."
        )
    # A cache of rounded weights would outlive the steps that change them.
    autocast = torch.autocast(
        device.type,
        torch.bfloat16,
        enabled=precision == "bfloat16",
        cache_enabled=False,
    )
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
    try:
        with autocast:
            yield
    finally:
        torch.set_float32_matmul_precision(before)


# Multiplications and additions of a step that are worth a thread. Below, waiting for each
# other costs more than it saves, and far more where other processes use the cores, too.
_WORTH_A_THREAD = 5e8
_LOCK = Lock()


class _Around(local):
    """Numbers of threads around those that were limited, of every thread its own."""

    def __init__(self):
        self.numbers = []


_AROUND = _Around()


@contextmanager
def threads_for(n_operations=inf):
    """Limit torch to the threads that ``n_operations`` can keep busy.

    The operations are those between two waits. There are never more threads than torch had
    outside of all such blocks and at least one. In one of joblib's threads, which share the
    cores, there is one.
    """
    import torch

    numbers = _AROUND.numbers
    numbers.append(torch.get_num_threads())
    try:
        most = 1 if is_sharing_worker() else numbers[0]
        _set_threads(int(min(most, max(1, n_operations / _WORTH_A_THREAD))))
        yield
    finally:
        _set_threads(numbers.pop())


def _set_threads(number):
    """Set torch's number of threads for this thread, and for no other.

    Torch also takes a number that is set as that of threads in which it has not run yet.
    Only such a thread can read that number, and put it back without a change here.
    """
    import torch

    if number == torch.get_num_threads():
        return
    with _LOCK:
        of_others = _in_new_thread(torch.get_num_threads)
        torch.set_num_threads(number)
        _in_new_thread(torch.set_num_threads, of_others)


def _in_new_thread(function, *arguments):
    with ThreadPoolExecutor(1) as new:
        return new.submit(function, *arguments).result()
