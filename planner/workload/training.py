"""Training jobs: how much work one attempt is."""

from __future__ import annotations

from planner.catalog.records import Workload
from planner.errors import InputError


def amount_of_work(
    workload: Workload, *, tokens: float | None = None, samples: float | None = None, epochs: float | None = None
) -> float:
    """Tokens or samples of one attempt: as given, else of the workload's usual recipe.

    Parameters
    ----------
    workload : Workload
        What is trained; it counts in tokens or in samples.
    tokens, samples, epochs : float, optional
        Tokens in all, or samples of one epoch and the number of epochs.

    Returns
    -------
    float
        Tokens, or samples x epochs.

    Raises
    ------
    InputError
        When the amount is given in the other unit, or neither given nor known; `field` is the bare name.
    """
    if workload.unit == "tokens":
        for field, value in (("samples", samples), ("epochs", epochs)):
            if value is not None:
                raise InputError("wrong_unit", field=field, workload=workload.id, unit="tokens")
        if tokens is None and workload.tokens is None:
            raise InputError("missing_work", field="tokens", workload=workload.id, unit="tokens")
        return tokens if tokens is not None else workload.tokens.value  # type: ignore[union-attr]
    if tokens is not None:
        raise InputError("wrong_unit", field="tokens", workload=workload.id, unit="samples")
    if samples is None and workload.samples is not None:
        samples = workload.samples.value
    if epochs is None:
        epochs = workload.epochs
    if samples is None:
        raise InputError("missing_work", field="samples", workload=workload.id, unit="samples")
    if epochs is None:
        raise InputError("missing_work", field="epochs", workload=workload.id, unit="epochs")
    return samples * epochs
