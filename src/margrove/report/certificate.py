"""The certificate of a fit as plain values and as one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def certificate_summary(classifier: Any) -> dict[str, Any] | None:
    """Return the certificate of a fitted classifier as a dictionary, None for one that has none."""
    certificate = getattr(classifier, "certificate_", None)
    return None if certificate is None else dict(certificate.as_dict())


def certificate_line(certificate: Mapping[str, Any]) -> str:
    """Say how close a fit is to the optimum: the optimum lies between dual and primal."""
    return (
        f"{certificate['status']}; the optimum lies between {certificate['dual']:,.6g} (dual) "
        f"and {certificate['primal']:,.6g} (primal), a relative gap of {certificate['relative_gap']:.2g}; "
        f"{certificate['n_iter']:,} rounds, {certificate['seconds']:.1f} s"
    )
