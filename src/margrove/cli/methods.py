"""Methods by their names and the options that were given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from margrove.cli.status import CommandError, Status
from margrove.errors import MargroveError

if TYPE_CHECKING:
    from margrove.classifiers import HierarchicalSVM


def hierarchical_svm(taxonomy: Any, **settings: Any) -> HierarchicalSVM:
    """Return an estimator, unless the name of its cost or of its attributes is unknown."""
    from margrove.classifiers import HierarchicalSVM
    from margrove.taxonomy import attributes, costs

    for name, known in (("cost", costs), ("attributes", attributes)):
        try:
            if name in settings:
                known.get(settings[name])
        except MargroveError as error:
            raise CommandError(Status.WRONG_CALL, f"--{name}: {error}") from error
    return HierarchicalSVM(taxonomy, **settings)
