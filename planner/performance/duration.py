"""How long a training attempt takes: work over throughput, or a compute budget over what the GPUs reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from planner.units import H_PER_YEAR, S_PER_H, Numeric

LEAST_INTERVAL_S = 1.0  # of work between checkpoints that pause nothing
MOST_LOST = 1000.0  # times the rest of a run, above which it is taken never to end
_NEVER_PER_YEAR = 1e-9
_LARGEST_EXPONENT = 50.0  # keeps times finite; such a run never ends


def attempt_h(
    work: Numeric, throughput: Numeric, *, checkpoints: Numeric = 0.0, checkpoint_s: Numeric = 0.0
) -> Numeric:
    """Wall-clock time of one attempt without interruptions, start-up or queueing.

    Parameters
    ----------
    work : numeric
        Tokens or samples to train on, all epochs together. [tokens or samples]
    throughput : numeric
        Rate of all GPUs of the run together, in the unit of the work. [1/s]
    checkpoints : numeric
        Checkpoints for which training pauses. [-]
    checkpoint_s : numeric
        Pause of one checkpoint. [s]

    Returns
    -------
    numeric
        Duration. [h]

    Examples
    --------
    LLaMA 65B, 1.4 T tokens at 380 tokens/s on each of 2,048 GPUs (arXiv:2302.13971, sec. 2.4): about 21 days.

    >>> round(attempt_h(1.4e12, 380 * 2048) / 24, 1)
    20.8
    """
    return (work / throughput + checkpoints * checkpoint_s) / S_PER_H


def checkpoint_interval_s(checkpoint_s: Numeric, mtbf_s: Numeric) -> Numeric:
    """Work between two checkpoints that loses the least time to checkpoints and interruptions together.

    Parameters
    ----------
    checkpoint_s : numeric
        Pause of one checkpoint. [s]
    mtbf_s : numeric
        Mean time between interruptions of the whole run. [s]

    Returns
    -------
    numeric
        Daly's estimate, Young's `sqrt(2 checkpoint_s mtbf_s)` to first order. [s]

    References
    ----------
    .. [1] J. W. Young, "A First Order Approximation to the Optimum Checkpoint Interval," CACM 17(9), 1974.
    .. [2] J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps," FGCS 22(3),
       2006, eq. 37.

    Examples
    --------
    >>> round(checkpoint_interval_s(60.0, 11_000.0))
    1109
    """
    share = np.asarray(checkpoint_s / (2 * mtbf_s))
    best = np.sqrt(2 * checkpoint_s * mtbf_s) * (1 + np.sqrt(share) / 3 + share / 9) - checkpoint_s
    return _scalar(np.where(share < 1, best, mtbf_s))


def interrupted_s(busy_s: Numeric, segments: Numeric, mtbf_s: Numeric, restart_s: Numeric) -> Numeric:
    """Expected duration of a run that goes back to its last checkpoint whenever it is interrupted.

    Parameters
    ----------
    busy_s : numeric
        Duration without interruptions, checkpoints included. [s]
    segments : numeric
        Equal parts of it, each ended by a checkpoint or the end of the run. [-]
    mtbf_s : numeric
        Mean time between interruptions of the whole run, at random moments. [s]
    restart_s : numeric
        From an interruption until work goes on; may itself be interrupted. [s]

    References
    ----------
    .. [1] J. T. Daly, ibid., eq. 13: a segment takes `M exp(R/M) (exp(segment/M) - 1)`.

    Examples
    --------
    A day on 16,384 GPUs with an interruption in three hours, checkpoints every half hour, ten minutes to restart:

    >>> round(interrupted_s(86_400.0, 48.0, 10_800.0, 600.0) / 3600, 1)
    27.6
    """
    of_segment = np.minimum(busy_s / segments / mtbf_s, _LARGEST_EXPONENT)
    again = np.exp(np.minimum(restart_s / mtbf_s, _LARGEST_EXPONENT))
    return _scalar(busy_s * again * np.expm1(of_segment) / of_segment)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """Where the time of one attempt goes. [h]"""

    work_h: Numeric
    evaluation_h: Numeric
    checkpoint_h: Numeric
    checkpoints: Numeric
    interruptions: Numeric  # expected in the time without them
    lost_h: Numeric

    @property
    def total_h(self) -> Numeric:
        """One attempt from start to end, without start-up or queueing. [h]"""
        return self.work_h + self.evaluation_h + self.checkpoint_h + self.lost_h

    @property
    def ends(self) -> bool:
        """Whether it gets from one checkpoint to the next between interruptions, at least now and then."""
        return bool(np.all(self.lost_h <= MOST_LOST * (self.total_h - self.lost_h)))


def attempt_parts(
    work_s: Numeric,
    *,
    eval_share: Numeric = 0.0,
    checkpoints: Numeric = 0.0,
    checkpoint_s: Numeric = 0.0,
    gpus: int = 1,
    interruptions_per_gpu_year: Numeric | None = None,
    failures_per_year: Numeric | None = None,
    restart_s: Numeric = 0.0,
) -> Attempt:
    """One attempt with evaluation, checkpoints and, where a rate of them is given, interruptions.

    Parameters
    ----------
    work_s : numeric
        Training alone: work over throughput. [s]
    eval_share : numeric
        Evaluation over training. [-]
    checkpoints, checkpoint_s : numeric
        Checkpoints for which training pauses, and the pause of one [s]. With interruptions of GPUs and no number of
        checkpoints, as many as lose the least time.
    gpus : int
        GPUs of the run: any of them interrupts all.
    interruptions_per_gpu_year : numeric, optional
        Unexpected interruptions, from all causes. None: not counted. [1/year]
    failures_per_year : numeric, optional
        Of all machines of the run together. Those of its GPUs hold them, so the larger of the two rates counts.
        [1/year]
    restart_s : numeric
        From an interruption until work goes on. [s]

    References
    ----------
    .. [1] "The Llama 3 Herd of Models," 2024, sec. 3.3.4: 419 unexpected interruptions in 54 days on 16,384 GPUs are
       0.173 a GPU-year, arXiv:2407.21783.
    """
    busy_s = work_s * (1 + eval_share)
    interruptions: Numeric = 0.0
    lost_s: Numeric = 0.0
    rates = [
        *([] if interruptions_per_gpu_year is None else [gpus * interruptions_per_gpu_year]),
        *([] if failures_per_year is None else [np.maximum(failures_per_year, _NEVER_PER_YEAR)]),
    ]
    if rates:
        mtbf_s = S_PER_H * H_PER_YEAR / np.maximum(rates[0], rates[-1])
        if interruptions_per_gpu_year is not None:
            interval_s = np.maximum(checkpoint_interval_s(checkpoint_s, mtbf_s), LEAST_INTERVAL_S)
            best = np.maximum(busy_s / interval_s - 1, 0.0)
            checkpoints = _scalar(np.where(np.asarray(checkpoints) > 0, checkpoints, best))
        with_pauses = busy_s + checkpoints * checkpoint_s
        interruptions = with_pauses / mtbf_s
        lost_s = interrupted_s(with_pauses, checkpoints + 1, mtbf_s, restart_s) - with_pauses
    return Attempt(
        work_h=work_s / S_PER_H,
        evaluation_h=work_s * eval_share / S_PER_H,
        checkpoint_h=checkpoints * checkpoint_s / S_PER_H,
        checkpoints=checkpoints,
        interruptions=interruptions,
        lost_h=lost_s / S_PER_H,
    )


def _scalar(value: Any) -> Numeric:
    """A number where an array has no axes."""
    array = np.asarray(value)
    return float(array) if array.ndim == 0 else array


def training_time_s(model_flop: Numeric, gpu_count: Numeric, peak_flop_per_s: Numeric, mfu: Numeric) -> Numeric:
    """Time to spend a compute budget on identical GPUs.

    Parameters
    ----------
    model_flop : numeric
        Compute of the run. With recomputation counted, `mfu` must count it too (then it is an HFU). [FLOP]
    gpu_count : numeric
        GPUs working in parallel. [-]
    peak_flop_per_s : numeric
        Dense peak of one GPU in the training precision. [FLOP/s]
    mfu : numeric
        Share of the peak that is reached, in (0, 1]. [-]

    Returns
    -------
    numeric
        Wall-clock time without restarts or queueing. [s]

    References
    ----------
    .. [1] A. Chowdhery et al., "PaLM: Scaling Language Modeling with Pathways," 2022, app. B, arXiv:2204.02311.

    Examples
    --------
    >>> round(training_time_s(2.7e24, 3072, 312e12, 0.392) / 86_400, 1)
    83.2
    """
    return model_flop / (gpu_count * peak_flop_per_s * mfu)
