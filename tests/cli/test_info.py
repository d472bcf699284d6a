from __future__ import annotations

import margrove as mg


def test_what_a_model_says_about_itself(call, shop):
    shown = call("info", shop / "model.mg")
    assert shown.status == 0
    for word in ("HierarchicalSVM", "checksum ok", "edge list CSV", "title: text", "certificate"):
        assert word in " ".join(shown.out.split()), word
    described = call("info", shop / "model.mg", "--json").json
    assert described["taxonomy"]["nodes"] == 7
    assert described["taxonomy"]["classes"] == 4
    assert described["labels"] == ["category"]
    assert described["parameters"]["C"] == mg.HierarchicalSVM().C
    assert described["bytes"] == (shop / "model.mg").stat().st_size
    assert described["versions"]["margrove"] == mg.__version__
    assert described["certificate"]["status"]


def test_a_damaged_model_is_not_described(call, shop, tmp_path):
    content = bytearray((shop / "model.mg").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "bad.mg").write_bytes(content)
    result = call("info", tmp_path / "bad.mg")
    assert result.status == 65
    assert result.out == ""
    assert "checksum" in result.err


def test_something_that_is_no_model(call, shop):
    assert call("info", shop / "data.csv").status == 65
