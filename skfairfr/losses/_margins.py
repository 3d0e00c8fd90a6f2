"""Margins on the cosine to the own centroid: what each base does, and its derivative."""

import math

import torch

BASES = ("cosface", "arcface", "softmax")


def target_cosine(cosine, base, margin):
    """The cosine that enters the loss for the own identity, and its slope.

    Parameters
    ----------
    cosine : tensor, shape (n_samples,)
        Of each row to its own centroid, in [-1, 1].
    base : {"cosface", "arcface", "softmax"}
        "cosface": cos - margin. "arcface": cos(angle + margin) and, past the angle where
        that would rise again (pi - margin), the line cos - margin sin(margin), which goes
        on falling. "softmax": the cosine itself.
    margin : float
        Unused by "softmax".

    Returns
    -------
    target, slope : tensors, shape (n_samples,)
        The slope is the derivative by the cosine.
    """
    if base == "softmax":
        return cosine, torch.ones_like(cosine)
    if base == "cosface":
        return cosine - margin, torch.ones_like(cosine)
    sine = (1 - cosine.square()).clamp_min(torch.finfo(cosine.dtype).eps).sqrt()
    turned = cosine * math.cos(margin) - sine * math.sin(margin)
    turning = math.cos(margin) + cosine / sine * math.sin(margin)
    falls = cosine > -math.cos(margin)
    straight = cosine - margin * math.sin(margin)
    return (
        torch.where(falls, turned, straight),
        torch.where(falls, turning, torch.ones_like(cosine)),
    )
