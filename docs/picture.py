"""Draw README's picture: the first screen of the page that ``skfairfr demo --out`` writes.

    python docs/picture.py

It needs Chromium; Pillow comes with matplotlib. The picture is docs/_static/report.png.
"""

import subprocess
import tempfile
from pathlib import Path

from PIL import Image

from skfairfr.cli import main

PICTURE = Path(__file__).resolve().parent / "_static" / "report.png"
SIZE = 1000, 1085
COLOURS = 64


def draw(folder):
    """The demo's page, as a browser shows its top."""
    main(["demo", "--quiet", "--out", f"{folder}/report"])
    shot = Path(folder, "shot.png")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    options += ["--disable-background-networking", f"--user-data-dir={folder}/profile"]
    options += [f"--screenshot={shot}", "--window-size={},{}".format(*SIZE)]
    page = Path(folder, "report", "report.html").as_uri()
    subprocess.run(["chromium", *options, page], check=True)
    colours = Image.open(shot).convert("RGB").quantize(COLOURS, dither=0)
    colours.save(PICTURE, optimize=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        draw(folder)
