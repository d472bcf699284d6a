"""The command line. Importing it is cheap: whatever is heavy is imported by the command that needs it."""

from __future__ import annotations

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one call of the program and return its exit status; it may be interrupted from the start."""
    try:
        from margrove.cli import app
    except KeyboardInterrupt:
        return 130
    return app.main(argv)


__all__ = ["main"]
