"""Write a record, or compare two."""

import argparse
import os
import sys
import tempfile
import time
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.recorded")
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write", help="record the present state")
    writing.add_argument("file")
    writing.add_argument("--only", nargs="+", metavar="THEME", help="some themes alone")
    comparing = commands.add_parser("compare", help="list what differs")
    comparing.add_argument("old")
    comparing.add_argument("new")
    given = parser.parse_args()
    if given.command == "write":
        write(given.file, given.only)
        return 0
    from tests.recorded.compare import compare

    return 0 if compare(given.old, given.new) else 1


def write(path, only=None):
    """Record all themes, on one thread and in lines of one width."""
    os.environ["COLUMNS"] = "100"
    os.environ["MPLBACKEND"] = "agg"
    import torch
    from threadpoolctl import threadpool_limits

    from tests.recorded import cases
    from tests.recorded.record import Record

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        with installed(Path(folder)):
            record = Record(folder)
            for theme in cases.THEMES if only is None else only:
                started, before = time.process_time(), len(record.leaves)
                cases.run(theme, record, Path(folder))
                seconds = time.process_time() - started
                n_leaves = len(record.leaves) - before
                print(f"{theme}: {n_leaves} leaves, {seconds:.0f} s of CPU")
        record.write(path)
    print(f"{len(record.leaves)} leaves in {path}")


@contextmanager
def installed(folder):
    """Metadata for the command, which tells its version, where there are none."""
    try:
        version("skfairfr")
    except PackageNotFoundError:
        import skfairfr

        metadata = folder / f"skfairfr-{skfairfr.__version__}.dist-info" / "METADATA"
        metadata.parent.mkdir()
        metadata.write_text(
            f"Metadata-Version: 2.1\nName: skfairfr\nVersion: {skfairfr.__version__}\n"
        )
        sys.path.append(str(folder))
        try:
            yield
        finally:
            sys.path.remove(str(folder))
    else:
        yield


if __name__ == "__main__":
    sys.exit(main())
