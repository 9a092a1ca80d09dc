"""What rows of one kind have in common beyond the model: offsets that shrink with how few rows show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from planner.performance.time_to_target.runs import Run

Array = npt.NDArray[np.float64]
Offsets = dict[str, dict[str, float]]

# Spreads of logs by what rows may share, and of a row beside these: judgements, made with the published rows in view.
WORK_SPREADS: Mapping[str, float] = {"batch": 0.03, "tuned": 0.05, "submitter": 0.03, "gpu": 0.03, "bus": 0.05}
WORK_ROW_SPREAD = 0.05
TIME_SPREADS: Mapping[str, float] = {"generation": 0.0, "gpu": 0.06, "setup": 0.08, "submitter": 0.02, "cluster": 0.06}
TIME_ROW_SPREAD = 0.04
_MOST = 0.25  # that a single row may speak for


def kinds_of(run: Run, batch: float) -> dict[str, str]:
    """What a run may have in common with others, by the names of the spreads."""
    kinds = {
        "batch": f"{batch:g}",
        "tuned": f"{run.gpus} x {batch:g}",  # hyperparameters are published for such pairs, and used by all
        "submitter": run.submitter,
        "gpu": run.gpu,
        "generation": run.generation,
        "setup": setup_of(run, batch),
    }
    if not run.rates.switched:
        kinds["bus"] = "pcie"
    if run.nodes > 1:
        kinds["cluster"] = run.submitter
    return kinds


def setup_of(run: Run, batch: float) -> str:
    """Card, number of cards and batch as one key."""
    return f"{run.gpu} {run.gpus} {batch:g}"


def fit_offsets(
    kinds: Sequence[Mapping[str, str]], residuals: Array, spreads: Mapping[str, float], row_spread: float
) -> Offsets:
    """Offset of each kind, as best linear predictions of random effects: of n rows a share n / (n + noise) is kept.

    Parameters
    ----------
    kinds : sequence of mapping
        What each row may have in common with others.
    residuals : array
        Logs of measured over modelled; a row that is far off counts only up to a limit.
    spreads : mapping
        Standard deviations of the offsets, by what is common.
    row_spread : float
        Standard deviation of a row beside them.
    """
    clipped = np.clip(residuals, -_MOST, _MOST)
    covariance = row_spread**2 * np.eye(len(kinds))
    members: dict[tuple[str, str], Array] = {}
    for name, spread in spreads.items():
        if spread == 0:
            continue
        for key in sorted({kind[name] for kind in kinds if name in kind}):
            member = np.array([float(kind.get(name) == key) for kind in kinds])
            members[name, key] = member
            covariance += spread**2 * np.outer(member, member)
    weights = np.linalg.solve(covariance, clipped)
    found: Offsets = {name: {} for name in spreads}
    for (name, key), member in members.items():
        found[name][key] = float(spreads[name] ** 2 * (member @ weights))
    return found


def offset_of(offsets: Mapping[str, Mapping[str, float]], kinds: Mapping[str, str]) -> float:
    """Sum of the offsets that a run shares; what wasn't seen has none."""
    return sum(keys.get(kinds[name], 0.0) for name, keys in offsets.items() if name in kinds)
