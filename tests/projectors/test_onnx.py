"""The guide's recipe for ONNX, as it stands there, for every head that can be saved."""

from pathlib import Path

import numpy as np
import pytest
import torch

from skfairfr import EthicalModule, face_labels, make_face_embeddings
from tests.test_docs import blocks

GUIDE = Path(__file__).parents[2] / "docs" / "how_to" / "deploy.rst"
LENGTHS = 10.0 ** np.arange(-3, 4)


def recipe():
    """The block of the guide that exports ``deployed``."""
    found = blocks(GUIDE.read_text(encoding="utf-8"))
    (code,) = (code for *_, code in found if "torch.onnx.export(" in code)
    return code


@pytest.mark.slow
# Of torch's exporter about torch itself.
@pytest.mark.filterwarnings("ignore:.isinstance.treespec, LeafSpec:FutureWarning")
@pytest.mark.parametrize("head", ["residual", "mlp"])
def test_what_is_exported_gives_the_rows_of_transform(
    head, monkeypatch, tmp_path, capsys
):
    for name in ("onnx", "onnxscript", "onnxruntime"):
        pytest.importorskip(name)
    monkeypatch.chdir(tmp_path)
    faces = make_face_embeddings(60, n_features=32, random_state=0)
    labels = face_labels(faces.y, faces.sensitive_features)
    module = EthicalModule(head=head, max_epochs=2, random_state=0)
    module.fit(faces.X, labels).save("head.safetensors")
    served = EthicalModule.load("head.safetensors")
    torch.manual_seed(0)
    encoder = torch.nn.Linear(48, 32, bias=False)  # a row as long as its input
    deployed = torch.nn.Sequential(encoder, served.head_).eval()
    used = {"np": np, "torch": torch, "deployed": deployed}
    used["images"] = torch.randn(2, 48)
    exec(compile(recipe(), GUIDE.name, "exec"), used)
    assert capsys.readouterr().out == "(5, 32) True\n"

    images = np.random.default_rng(0).standard_normal((70, 48), dtype=np.float32)
    images *= np.repeat(LENGTHS, 10)[:, None].astype(np.float32)
    (exported,) = used["session"].run(None, {"images": images})
    with torch.no_grad():
        rows = encoder(torch.from_numpy(images)).numpy()
    np.testing.assert_allclose(exported, module.transform(rows), atol=1e-5)
