"""How long a training attempt takes: work over throughput, or a compute budget over what the GPUs reach."""

from __future__ import annotations

from planner.units import S_PER_H, Numeric


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
