"""What machines draw at the wall, by load."""

from __future__ import annotations

from planner.units import Numeric


def pc_wall_w(host_w: Numeric, gpu_count: Numeric, gpu_w: Numeric, psu_efficiency: Numeric) -> Numeric:
    """Wall power of a PC whose host figure is at the wall and whose cards' figures are board power.

    Parameters
    ----------
    host_w : numeric
        Host without its cards, at the wall. [W]
    gpu_count : numeric
        Cards. [-]
    gpu_w : numeric
        Board power of one card. [W]
    psu_efficiency : numeric
        Power supply efficiency at that load, in (0, 1]. [-]

    Returns
    -------
    numeric
        Power at the wall. [W]
    """
    return host_w + gpu_count * gpu_w / psu_efficiency


def server_wall_w(gpu_count: Numeric, tdp_w: Numeric, wall_w_per_gpu_tdp: Numeric) -> Numeric:
    """Wall power of a loaded GPU server, from the sum of its GPUs' TDP; host, fans and power supplies are inside.

    Parameters
    ----------
    gpu_count, tdp_w : numeric
        GPUs, and the TDP of one. [-], [W]
    wall_w_per_gpu_tdp : numeric
        Measured wall power of the loaded node over the TDP sum (1.27 on 8x H100 nodes). [-]

    Returns
    -------
    numeric
        Power at the wall. [W]

    References
    ----------
    .. [1] MLPerf Training v4.1 power logs, Dell XE9680 with 8x H100, Llama-2-70B LoRA: 7.10 kW mean a node.
    """
    return gpu_count * tdp_w * wall_w_per_gpu_tdp


def partly_loaded_w(idle_w: Numeric, load_w: Numeric, busy_share: Numeric) -> Numeric:
    """Wall power of a machine with part of its GPUs busy: linear between idle and load, so that jobs add up.

    Parameters
    ----------
    idle_w, load_w : numeric
        Wall power with no GPU busy, and with all. [W]
    busy_share : numeric
        Busy GPUs over GPUs, in [0, 1]. [-]

    Returns
    -------
    numeric
        Power at the wall. [W]
    """
    return idle_w + (load_w - idle_w) * busy_share
