from __future__ import annotations


def test_a_small_demo(call, tmp_path):
    report = tmp_path / "report.html"
    result = call("demo", "--limit", "4000", "--tol", "0.1", "--report", report)
    assert result.status == 0, result.err
    for name in ("category accuracy", "block accuracy", "chapter accuracy", "tree loss", "relative gap"):
        assert name in result.out, name
    assert result.out.count(" > ") >= 10
    assert "peak memory" in result.out
    assert all(len(line) <= 80 for line in result.out.splitlines())
    assert "flat SVM" in report.read_text()


def test_the_report_is_checked_first(call, tmp_path):
    result = call("demo", "--report", tmp_path / "no" / "report.html")
    assert result.status == 73
    assert "training" not in result.err
