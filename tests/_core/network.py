"""Count what the processes of a Dask cluster send to each other."""

from collections import Counter

SENT = Counter()


def count_bytes():
    """From now on, count what this process sends; returns how to stop."""
    from distributed.comm import tcp

    write = tcp.TCP.write

    async def counted(self, *args, **options):
        n = await write(self, *args, **options)
        SENT["bytes"] += n
        return n

    def stop():
        tcp.TCP.write = write

    tcp.TCP.write = counted
    return stop


def bytes_sent():
    """Bytes that this process has sent since it counts."""
    return SENT["bytes"]


def count_on(client):
    """Count in all processes; the client and the scheduler share this one."""
    client.run(_count_there)
    return count_bytes()


def _count_there():
    count_bytes()


def bytes_on(client):
    """Bytes that all processes have sent."""
    return bytes_sent() + sum(client.run(bytes_sent).values())
