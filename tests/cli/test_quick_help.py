from __future__ import annotations

import resource
import subprocess
import sys

_HEAVY = ["numba", "sklearn", "scipy", "numpy", "pyarrow", "rich", "jinja2"]


def test_help_imports_nothing_heavy():
    program = (
        "import sys; from margrove.cli import main; status = main(['--help']); "
        f"sys.exit(status or ' '.join(name for name in {_HEAVY} if name in sys.modules) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "train" in done.stdout


def test_help_answers_at_once():
    """By the processor's time: other work on the machine is not the program's."""
    seconds = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "margrove", "--help"], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    assert min(seconds) < 0.3
