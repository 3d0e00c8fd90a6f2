"""Pairs of a person's images, and minibatches of triplets that the present head selects."""

import numpy as np
import torch
from skorch.callbacks import Callback

from skfairfr.losses import semi_hard_negatives
from skfairfr.projectors._head import BLOCK_ROWS
from skfairfr.projectors._net import epoch_positions
from skfairfr.utils._torch import threads_for
from skfairfr.utils._validation import MOST


class Partners:
    """For every image the images of its person that it makes a pair with.

    With two domains these are the person's images of the other one, otherwise all its
    other images. Every person has one at least.

    Parameters
    ----------
    y : tensor of int64, shape (n_images,)
    domain : tensor of int, shape (n_images,), or None
        0 or 1.
    """

    def __init__(self, y, domain=None):
        self._domain = domain
        own = 2 * y if domain is None else 2 * y + domain
        sides, self._order = torch.sort(own, stable=True)
        self._rank = torch.empty_like(self._order)
        self._rank[self._order] = torch.arange(len(y))
        other = own if domain is None else own ^ 1
        self._start = torch.searchsorted(sides, other)
        self._count = torch.searchsorted(sides, other, right=True) - self._start
        first = torch.searchsorted(sides, own)
        # The place among the images of its person (and domain).
        self._rank -= first

    def draw(self, places, generator):
        """Left and right image of pairs: each place with a partner drawn uniformly."""
        n_others = self._count[places] - int(self._domain is None)
        share = torch.rand(len(places), dtype=torch.float64, generator=generator)
        step = torch.minimum((share * n_others).long(), n_others - 1)
        return self._pair(places, step)

    def all_once(self):
        """Left and right image of pairs: each image with the next one of its person."""
        places = torch.arange(len(self._order))
        if self._domain is None:
            return self._pair(places, torch.zeros_like(places))
        return self._pair(places, self._rank % self._count)

    def _pair(self, places, step):
        """Pairs of each place with its partner ``step`` others away, domain 0 on the left."""
        if self._domain is None:
            # The image itself is among them: the others follow it in a ring.
            step = (self._rank[places] + 1 + step) % self._count[places]
        partner = self._order[self._start[places] + step]
        if self._domain is None:
            return places, partner
        is_left = self._domain[places] == 0
        left = torch.where(is_left, places, partner)
        return left, torch.where(is_left, partner, places)


class TripletBatches:
    """Iterates over the batches (rows, triplets) of an epoch, a new epoch each time.

    A round draws images by the sampler, a partner of each, and for both anchors of these
    pairs a semi-hard negative; its triplets are then shuffled into minibatches.

    Parameters
    ----------
    rows : DeviceRows
    people : People
        Trained on; every one has a pair.
    head : ProjectionHead
        In training: every round selects with its weights of that moment.
    generator : torch.Generator
    sampler : callable, default=None
        As in :class:`~skfairfr.projectors._net.Batches`; its batches are rounds.
    margin : float
    selection_size : int
        Pairs of a round.
    batch_size : int
        Triplets of a minibatch.

    Attributes
    ----------
    n_triplets : int
        Triplets of the epoch so far.
    """

    def __init__(
        self,
        rows,
        people,
        head,
        generator,
        *,
        sampler=None,
        margin,
        selection_size,
        batch_size,
    ):
        self.rows = rows
        self.head = head
        self.generator = generator
        self.sampler = sampler
        self.margin = margin
        self.selection_size = selection_size
        self.batch_size = min(batch_size, MOST)
        self.index = torch.as_tensor(people.rows)
        self.y = torch.as_tensor(people.y)
        self.partners = partners_of(people)
        self.n_triplets = 0

    def __iter__(self):
        self.n_triplets = 0
        n_train, size = len(self.index), self.selection_size
        for places in epoch_positions(self.sampler, self.generator, n_train, size):
            pairs = self.partners.draw(places, self.generator)
            # The product of all pairs may use more threads than a minibatch.
            with threads_for(2 * self.rows.shape[1] * len(places) ** 2):
                triplets = self.select(*pairs)
            self.n_triplets += len(triplets)
            order = torch.randperm(len(triplets), generator=self.generator)
            for part in triplets[order].split(self.batch_size):
                if len(part):
                    yield self._batch(part)
        if self.n_triplets == 0:
            # No triplet violates the margin: the loss of this epoch is 0.
            yield self.rows.take(self.index[:1]), torch.empty((0, 3), dtype=torch.int64)

    def __len__(self):
        return len(self.index)

    def select(self, left, right):
        """Triplets (n_triplets, 3) of images, from pairs of images (n_pairs,) each."""
        places, inverse = torch.unique(torch.cat([left, right]), return_inverse=True)
        z = self._project(places)[inverse.to(self.rows.device)]
        negatives = semi_hard_negatives(
            z[: len(left)],
            z[len(left) :],
            self.y[left].to(z.device),
            margin=self.margin,
            generator=self.generator,
        )
        triplets = []
        for anchor, positive, negative in zip(
            (left, right), (right, left), negatives, strict=True
        ):
            negative = negative.cpu()
            found = (negative >= 0).nonzero().squeeze(1)
            columns = (anchor[found], positive[found], positive[negative[found]])
            triplets.append(torch.stack(columns, dim=1))
        return torch.cat(triplets)

    @torch.no_grad()
    def _project(self, places):
        """Unit rows of images, on the device."""
        index = self.index[places].numpy()
        self.head.eval()
        return torch.cat([self.head(b) for b in self.rows.in_order(BLOCK_ROWS, index)])

    def _batch(self, triplets):
        """The rows of the images, each once in the order of X, and triplets of places."""
        places, inverse = torch.unique(triplets, return_inverse=True)
        return self.rows.take(self.index[places]), inverse.to(self.rows.device)


class CountTriplets(Callback):
    """Records how many triplets of an epoch violated the margin.

    Parameters
    ----------
    batches : TripletBatches
    """

    def __init__(self, batches):
        self.batches = batches

    def on_epoch_end(self, net, **kwargs):
        net.history.record("n_triplets", self.batches.n_triplets)


def have_pairs(people):
    """Whether each identity has two images, in different domains if there are any."""
    if people.domain is None:
        return np.bincount(people.y, minlength=people.identities.size) > 1
    found = np.zeros((people.identities.size, 2), dtype=bool)
    found[people.y, people.domain] = True
    return found.all(axis=1)


def partners_of(people):
    """The Partners of the images of People."""
    domain = None if people.domain is None else torch.as_tensor(people.domain).long()
    return Partners(torch.as_tensor(people.y), domain)
