"""Build the site, warnings being errors, and check its links and its stories' output.

    python docs/build.py            everything, examples executed
    python docs/build.py --smoke    without executing examples
    python docs/build.py --check    only the checks, of what was built last

The demonstration's report becomes the sample report of the site.
The site is in docs/_build/html. Nothing is fetched from a network. A story that warns, or
leaves a file behind, ends the build (docs/_ext/story_rules.py).
"""

import argparse
import io
import shutil
import sys
from contextlib import redirect_stdout
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

HERE = Path(__file__).resolve().parent
BUILT = HERE / "_build"
GENERATED = ("auto_examples", "auto_api")


class Page(HTMLParser):
    """The anchors of a page, and what it refers to."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.targets = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        """Remember ids, and what is linked or loaded."""
        found = dict(attributes)
        if found.get("id"):
            self.anchors.add(found["id"])
        if tag == "a" and found.get("name"):
            self.anchors.add(found["name"])
        target = found.get("href" if tag in ("a", "link") else "src")
        if target:
            self.targets.append((tag, target))


def broken_links(folder):
    """A sentence for each link of a built site that leads nowhere.

    Pages may link to the network, but load nothing from it.
    """
    folder = Path(folder).resolve()
    paths = sorted(p for p in folder.rglob("*.html") if "_static" not in p.parts)
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in paths}
    broken = []
    for path, page in pages.items():
        for tag, target in page.targets:
            why = _why_broken(tag, target, path, pages)
            if why:
                broken.append(f"{path.relative_to(folder)}: {target}: {why}")
    return broken


def _why_broken(tag, target, path, pages):
    parts = urlsplit(target)
    if parts.scheme == "data" or parts.scheme == "mailto":
        return ""
    if parts.scheme or parts.netloc:
        return "" if tag == "a" else "loaded from a network"
    there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not there.is_file():
        return "no such file"
    anchor = unquote(parts.fragment)
    if anchor and there in pages and anchor not in pages[there].anchors:
        return "no such anchor"
    return ""


def silent_stories(folder):
    """A sentence for each story, among the executed ones of a gallery, without output."""
    paths = sorted(Path(folder).rglob("plot_*.rst"))
    if not paths:
        return ["no story was built"]
    return [
        f"{path.relative_to(folder)}: prints nothing"
        for path in paths
        if "sphx-glr-script-out" not in path.read_text(encoding="utf-8")
    ]


def build(source, output, *, smoke=False):
    """Sphinx's exit status; warnings are errors."""
    from sphinx.cmd.build import main

    options = ["-W", "--keep-going", "-n", "-q", "-b", "html"]
    if smoke:
        options += ["-D", "plot_gallery=0"]
        # Figures are made by examples, which are not executed.
        options += ["-D", "suppress_warnings=config.cache,image.not_readable"]
    return main([*options, "-d", str(output / "doctrees"), str(source), str(output)])


def write_sample_report(folder):
    """Write what ``skfairfr demo --out`` writes, to which pages link."""
    from skfairfr.cli import main

    with redirect_stdout(io.StringIO()):
        main(["demo", "--quiet", "--replace", "--out", str(folder)])


def main(arguments=None):
    """Exit status: 0 if the build succeeds and all checks pass."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="execute no example")
    parser.add_argument("--check", action="store_true", help="build nothing")
    parser.add_argument("--clean", action="store_true", help="delete old builds first")
    asked = parser.parse_args(arguments)
    output = BUILT / ("smoke" if asked.smoke else "html")
    if asked.clean:
        for folder in (output, *(HERE / name for name in GENERATED)):
            shutil.rmtree(folder, ignore_errors=True)
    status = 0 if asked.check else build(HERE, output, smoke=asked.smoke)
    if not status and not asked.check:
        write_sample_report(output / "sample_report")
    broken = [] if status else broken_links(output)
    if asked.smoke:
        broken = [b for b in broken if "/images/" not in b and "_images/" not in b]
    elif not status:
        broken += silent_stories(HERE / "auto_examples")
    for line in broken:
        print(line, file=sys.stderr)
    if not status and not broken:
        print(output / "index.html")
    return status or int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
