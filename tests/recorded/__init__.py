"""A record of what the public names answer, to compare one state of the code with another.

``python -m tests.recorded write FILE`` calls a broad set of public names and keeps numbers,
texts, warnings and errors; ``python -m tests.recorded compare OLD NEW`` lists what differs.
The cases go through public names only, so that one script runs before and after a change of
the private modules. Bits agree on one machine with one thread; run both with
``OMP_NUM_THREADS=1``.
"""
