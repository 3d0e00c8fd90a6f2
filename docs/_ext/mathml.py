"""Formulas as MathML, by docutils: nothing is loaded from a network, no LaTeX is needed."""

from docutils.utils.math.latex2mathml import tex2mathml

# Commands that docutils spells otherwise.
SPELLINGS = {r"\dots": r"\ldots"}


def inline(translator, node):
    """A formula in a line of text."""
    translator.body.append(_formula(node, as_block=False))
    raise _done()


def block(translator, node):
    """A formula on lines of its own."""
    formula = _formula(node, as_block=True)
    translator.body.append(f'<div class="math">{formula}</div>')
    raise _done()


def _formula(node, as_block):
    text = node.astext()
    for ours, theirs in SPELLINGS.items():
        text = text.replace(ours, theirs)
    return tex2mathml(text, as_block=as_block)


def _done():
    from docutils.nodes import SkipNode

    return SkipNode()


def setup(app):
    """Take part in the build as the renderer of formulas."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
