"""The edge to torch: devices, generators and precision. Only training code imports it."""

from contextlib import contextmanager, nullcontext

from threadpoolctl import threadpool_limits

from skfairfr._core._parallel import is_sharing_worker
from skfairfr.utils._errors import invalid

PRECISIONS = ("float32", "tf32", "bfloat16")


def choose_device(device):
    """The torch device of a name. "auto" is the accelerator where there is one.

    Raises
    ------
    ValueError
        If the name is unknown or no such device is available.
    """
    import torch

    # A file may contain anything in its place, even an array.
    if isinstance(device, str) and device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    n_devices = torch.cuda.device_count()
    cards = [f"cuda:{k}" for k in range(n_devices)]
    if str(device) not in ("cpu", *(["cuda", *cards] if cards else [])):
        problem = "must be 'auto', 'cpu' or 'cuda' with an index that torch finds "
        problem += f"({n_devices} CUDA devices here), got {device!r}."
        remedy = "Use 'auto', or install a torch build with CUDA."
        raise invalid("device", device, problem, remedy)
    return torch.device(str(device))


def new_generator(random_state):
    """A torch generator on the CPU, seeded by a numpy RandomState.

    It draws on the CPU for every device, so batches are the same everywhere.
    """
    import torch

    return torch.Generator().manual_seed(int(random_state.randint(2**31 - 1)))


def new_linear(n_in, n_out, generator=None):
    """An ``nn.Linear`` with its usual distribution, drawn with an explicit generator."""
    import torch
    from torch import nn

    # It draws nothing on this device. nn.utils.skip_init would import sympy, a second.
    layer = nn.Linear(n_in, n_out, device="meta")
    bound = n_in**-0.5
    for name, parameter in list(layer.named_parameters()):
        drawn = nn.Parameter(torch.empty(parameter.shape))
        nn.init.uniform_(drawn, -bound, bound, generator=generator)
        setattr(layer, name, drawn)
    return layer


@contextmanager
def precision_of_products(precision, device):
    """Take matrix products in ``precision``. Restore the settings afterwards.

    A block inside another has its own precision.

    Raises
    ------
    ValueError
        If the device cannot: TF32 needs an accelerator.
    """
    import torch

    if precision == "tf32" and device.type != "cuda":
        problem = f"is 'tf32', which needs device='cuda', got {device.type!r}."
        raise invalid("precision", precision, problem, "Use 'float32', or 'bfloat16'.")
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


@contextmanager
def shared_threads():
    """One thread of torch's in each of joblib's threads, which share the cores."""
    import torch

    # Torch sets its number in a thread where it is first asked for it. OpenMP has one for each
    # thread, and torch's own would for a moment be that of all.
    torch.get_num_threads()
    shares = is_sharing_worker()
    with threadpool_limits(1, user_api="openmp") if shares else nullcontext():
        yield
