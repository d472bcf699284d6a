"""The command line. Importing it is cheap: whatever is heavy is imported by the command that needs it."""

from margrove.cli.app import main

__all__ = ["main"]
