"""Where the centroids of identities start."""

import numpy as np
import torch


def starting_centroids(centroids, n_identities, n_features, generator):
    """Given centroids or directions drawn uniformly, float32 (n_identities, n_features).

    Raises
    ------
    ValueError
        If those given have another shape or a row without a direction.
    """
    shape = (n_identities, n_features)
    if centroids is None:
        return torch.randn(shape, generator=generator)
    if isinstance(centroids, torch.Tensor):
        centroids = centroids.detach().cpu()
    start = torch.tensor(np.asarray(centroids), dtype=torch.float32)
    if start.shape != shape:
        raise ValueError(
            f"centroids must have shape {shape}, (n_identities, n_features); got "
            f"{tuple(start.shape)}."
        )
    length = torch.linalg.vector_norm(start, dim=1)
    if not bool(((length > 0) & torch.isfinite(length)).all()):
        raise ValueError(
            "centroids must have a direction; a row is zero or not finite."
        )
    return start
