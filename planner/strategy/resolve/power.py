"""Wall power of machines, loaded and idle."""

from __future__ import annotations

from planner.catalog.records import Figure, Gpu, Host
from planner.energy.power import pc_wall_w, server_wall_w
from planner.errors import InputError
from planner.scenario.machines import MachineInput
from planner.strategy.parameters import given
from planner.strategy.resolve.figures import Figures, combined


def told_power(entry: MachineInput, gpu: Gpu, host: Host | None, figures: Figures, field: str) -> tuple[Figure, Figure]:
    """Wall power of a whole machine, loaded and idle. [W]

    Raises
    ------
    InputError
        No host, and not both powers are given.
    """
    if entry.load_w is not None and entry.idle_w is not None:
        return given(entry.load_w), given(entry.idle_w)
    if host is None:
        missing = "load_w" if entry.load_w is None else "idle_w"
        raise InputError("missing_power", field=f"{field}{missing}", known=sorted(figures.catalog.hosts))
    load, idle = machine_power(gpu, entry.gpus, host, figures)
    return (given(entry.load_w) if entry.load_w else load), (given(entry.idle_w) if entry.idle_w is not None else idle)


def machine_power(gpu: Gpu, gpus: int, host: Host | None, figures: Figures) -> tuple[Figure, Figure]:
    """Wall power of `gpus` cards in a host, loaded and idle; without a host, as in a server.

    A PC adds its host's own figures to the cards'; a server's factor on the TDP sum holds the host already.
    """
    if host is not None and host.load_w is not None and host.idle_w is not None:
        efficiency = figures.assumed("psu_efficiency")
        share = figures.assumed("gpu_training_load_share_of_tdp")
        idle_gpu = gpu.idle_w if gpu.idle_w is not None else figures.assumed("gpu_idle_w")
        load = combined(
            lambda host_w, tdp, part, eff: float(pc_wall_w(host_w, gpus, tdp * part, eff)),
            host.load_w, gpu.tdp_w, share, efficiency,
        )  # fmt: skip
        idle = combined(
            lambda host_w, gpu_w, eff: float(pc_wall_w(host_w, gpus, gpu_w, eff)), host.idle_w, idle_gpu, efficiency
        )
        return load, idle
    factor = (
        figures.assumed("server_wall_w_per_gpu_tdp")
        if host is None or host.wall_w_per_gpu_tdp is None
        else host.wall_w_per_gpu_tdp
    )
    idle_share = (
        figures.assumed("server_idle_share_of_load")
        if host is None or host.idle_share_of_load is None
        else host.idle_share_of_load
    )
    load = combined(lambda tdp, part: float(server_wall_w(gpus, tdp, part)), gpu.tdp_w, factor)
    return load, combined(lambda power, part: power * part, load, idle_share)


def usual_power(gpu: Gpu, gpus: int, figures: Figures) -> tuple[Figure, Figure]:
    """Wall power, loaded and idle, of GPUs where nothing is said of their host.

    Consumer and workstation cards sit in the smallest PC of the catalog that holds them; data-centre cards, and more
    cards than any PC holds, in servers.
    """
    pcs = [host for host in figures.catalog.hosts.values() if host.load_w is not None and host.gpu_slots >= gpus]
    if gpu.segment == "datacenter" or not pcs:
        return machine_power(gpu, gpus, None, figures)
    return machine_power(gpu, gpus, min(pcs, key=lambda host: (host.gpu_slots, host.id)), figures)
