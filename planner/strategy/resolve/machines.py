"""Types of owned machines: prices, power, life and resale."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from planner.catalog.query import find_gpu, find_host
from planner.catalog.records import Catalog, Figure, Gpu, HardwarePrice, Host, first_day
from planner.cost.capex import residual_ratio
from planner.energy.power import pc_wall_w, server_wall_w
from planner.errors import InputError
from planner.scenario.machines import MachineInput
from planner.scenario.owned import Owned
from planner.scenario.schema import Scenario
from planner.strategy.machines import Machine, Sold
from planner.strategy.parameters import ParameterTable, given
from planner.strategy.problem import Issue
from planner.strategy.resolve.at_start import entry_after_start
from planner.strategy.resolve.cohorts import residual_curve, resolve_cohorts, useful_life
from planner.strategy.resolve.failures import resolve_failures
from planner.strategy.resolve.figures import Figures, combined, interpolated
from planner.strategy.resolve.financing import lease_of, with_finance

_SERVER_SLOTS = 8  # hosts of this size stand in racks and are looked after as servers


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedMachine:
    """One type: its columns and history, and what of it is sold at the start."""

    machine: Machine | None  # None: all there were are sold, and none is bought
    gpu: Gpu
    sold: Sold | None  # `upgraded` is that there are new cards; the index comes later
    warnings: tuple[Issue, ...]


def resolve_machine(
    id: str, scenario: Scenario, figures: Figures, table: ParameterTable, site_pue: Figure
) -> ResolvedMachine:
    """Columns and history of one machine type, its GPU, and warnings.

    Raises
    ------
    InputError
        A missing price, a host that doesn't hold the cards, an age beyond the life or the resale curve.
    UnknownIdError
        No such GPU or host in the catalog.
    """
    told, field = scenario.machines[id], f"machines.{id}"
    entry = entry_after_start(told)
    upgraded = entry.owned is not None and entry.owned.upgraded
    card = "owned.upgrade." if upgraded else ""  # where what concerns the cards stands
    gpu = find_gpu(figures.catalog, entry.gpu, field=f"{field}.{card}gpu")
    host = None if entry.host is None else find_host(figures.catalog, entry.host, field=f"{field}.host")
    if host is not None and entry.gpus > host.gpu_slots:
        raise InputError("too_few_slots", field=f"{field}.gpus", value=entry.gpus, host=host.id, slots=host.gpu_slots)
    server = gpu.segment == "datacenter" or (host is not None and host.gpu_slots >= _SERVER_SLOTS)
    kind = "server" if server else "workstation"
    gpu_price, gpu_taxed = _card_price(entry, gpu, figures, f"{field}.{card}gpu_price_usd")
    host_price, host_taxed = _host_price(entry, host, figures, field)
    load_w, idle_w = _power(entry, gpu, host, figures, f"{field}.{card}")
    if idle_w.value > load_w.value:
        raise InputError("idle_above_load", field=f"{field}.{card}idle_w", value=idle_w.value, load_w=load_w.value)

    def column(name: str, figure: Figure, unit: str, *, floor: float = 0.0) -> int:
        return table.add(f"{field}.{name}", figure, unit, floor=floor)

    today = None
    if told.owned is not None:
        today = _resale_today(told, told.owned, (host_price, host_taxed), _tax_rate(scenario, figures), figures, field)

    def today_column(part: int) -> int | None:
        name = ("owned.resale_gpu_usd", "owned.resale_host_usd")[part]
        return None if today is None else column(name, today[part], "USD")

    if entry.fixed_count == 0:
        return ResolvedMachine(machine=None, gpu=gpu, sold=_sold(id, told, today_column), warnings=())
    kept = entry.owned is not None
    machine = Machine(
        id=id,
        gpu=gpu.id,
        gpu_name=gpu.name,
        gpus=entry.gpus,
        fixed_count=entry.fixed_count,
        owned_count=0 if entry.owned is None else entry.owned.count,
        cohorts=resolve_cohorts(id, entry, scenario, gpu, figures, table, kind),
        gpu_includes_tax=gpu_taxed,
        host_includes_tax=host_taxed,
        gpu_price_at=column(f"{card}gpu_price_usd", gpu_price, "USD"),
        host_price_at=column("host_price_usd", host_price, "USD"),
        installation_at=column(
            "installation_usd",
            figures.usd_or(
                entry.installation_usd,
                lambda: figures.assumed(f"installation_usd_{kind}"),
                field=f"{field}.installation_usd",
            ),
            "USD",
        ),
        resale_gpu_today_at=today_column(0) if kept and not upgraded else None,
        resale_host_today_at=today_column(1) if kept else None,
        load_w_at=column(f"{card}load_w", load_w, "W"),
        idle_w_at=column(f"{card}idle_w", idle_w, "W"),
        pue_at=table.add("site.pue", site_pue, "-", floor=1.0)
        if entry.pue is None
        else column("pue", given(entry.pue), "-", floor=1.0),
        powered_h_at=column(
            "powered_h_per_month",
            figures.given_or(entry.powered_h_per_month, lambda: figures.assumed("powered_h_per_month")),
            "h/month",
        ),
        target_utilisation_at=column(
            "target_utilisation",
            figures.given_or(entry.target_utilisation, lambda: figures.assumed("target_utilisation")),
            "-",
        ),
        useful_life_at=column("useful_life_months", useful_life(entry, figures, kind), "months"),
        maintenance_at=column(
            "maintenance_share_per_year",
            figures.given_or(entry.maintenance_share_per_year, lambda: figures.assumed("maintenance_share_per_year")),
            "1/year",
        ),
        fte_at=_fte_column(entry, scenario, figures, table, field, kind),
        failures=resolve_failures(id, entry, figures, table),
        end_of_life=_end_of_life(entry, gpu, figures, kind),
    )
    terms = lease_of(entry)
    leased = None if terms is None else resolve_cohorts(id, entry, scenario, gpu, figures, table, kind, terms)
    machine, outlasting = with_finance(machine, leased, entry, scenario, figures, table)
    warnings = [*_warnings(id, entry, gpu, host, load_w), *outlasting]
    if upgraded:
        warnings += _unused_rates(id, scenario, gpu)
    sold = _sold(id, told, today_column) if upgraded or not kept else None
    return ResolvedMachine(machine=machine, gpu=gpu, sold=sold, warnings=tuple(warnings))


def _sold(id: str, told: MachineInput, column: Callable[[int], int | None]) -> Sold | None:
    """What goes at the start: whole machines, or their cards."""
    owned, gpu_at = told.owned, column(0)
    if owned is None or gpu_at is None:
        return None
    host_at = None if owned.upgraded else column(1)
    return Sold(id=id, count=owned.count, gpus=told.gpus, gpu_at=gpu_at, host_at=host_at, upgraded=None)


def _unused_rates(id: str, scenario: Scenario, gpu: Gpu) -> list[Issue]:
    """Own speeds that were measured on cards that are sold."""
    return [
        Issue(code="rate_of_sold_cards", field=f"jobs.{job}.throughput.{id}", params={"machine": id, "gpu": gpu.name})
        for job, entry in scenario.jobs.items()
        if id in entry.throughput and gpu.id not in entry.throughput
    ]


def _tax_rate(scenario: Scenario, figures: Figures) -> Figure:
    return figures.assumed("tax_rate") if scenario.tax.rate is None else given(scenario.tax.rate)


def _end_of_life(entry: MachineInput, gpu: Gpu, figures: Figures, kind: str) -> tuple[float, float] | None:
    """Resale over price of card and host at the end of their life; None where a curve doesn't reach so far."""
    life, age = round(useful_life(entry, figures, kind).value), entry.age_months or 0
    ends = []
    for curve in (residual_curve(entry, gpu, figures, part) for part in ("gpu", "host")):
        if life > max(curve):
            return None
        sold, bought = (interpolated(curve, months).value for months in (life, age))
        ends.append(float(residual_ratio(sold, bought)))
    return ends[0], ends[1]


def _fte_column(
    entry: MachineInput, scenario: Scenario, figures: Figures, table: ParameterTable, field: str, kind: str
) -> int:
    if entry.fte_per_machine is None and scenario.staff.fte_per_machine is not None:
        return table.add("staff.fte_per_machine", given(scenario.staff.fte_per_machine), "FTE")
    figure = figures.given_or(entry.fte_per_machine, lambda: figures.assumed(f"fte_per_{kind}"))
    return table.add(f"{field}.fte_per_machine", figure, "FTE")


def hardware_price(catalog: Catalog, item: str, condition: str) -> HardwarePrice | None:
    """The newest purchase price of a card or host, or None where the catalog has none."""
    found = [price for price in catalog.hardware.values() if price.item == item and price.condition == condition]
    dated = [(first_day(price.price_usd.as_of), price) for price in found]
    dated.sort(key=lambda pair: (pair[0] is not None, pair[0] or 0, pair[1].id))
    return dated[-1][1] if dated else None


def _card_price(entry: MachineInput, gpu: Gpu, figures: Figures, field: str) -> tuple[Figure, bool]:
    """Price of a card, and whether tax is in it."""
    told = entry.prices_include_tax
    if entry.gpu_price_usd is not None:
        return figures.usd(entry.gpu_price_usd, field=field), bool(told)
    price = hardware_price(figures.catalog, gpu.id, entry.condition)
    if price is None:
        raise InputError("missing_price", field=field, item=gpu.id, condition=entry.condition)
    return price.price_usd, price.includes_tax if told is None else told


def _host_price(entry: MachineInput, host: Host | None, figures: Figures, field: str) -> tuple[Figure, bool]:
    told = entry.prices_include_tax
    if entry.host_price_usd is not None:
        return figures.usd(entry.host_price_usd, field=f"{field}.host_price_usd"), bool(told)
    if host is None:
        raise InputError("missing_host", field=f"{field}.host", known=sorted(figures.catalog.hosts))
    price = hardware_price(figures.catalog, host.id, entry.condition) or hardware_price(figures.catalog, host.id, "new")
    if price is None:
        raise InputError("missing_price", field=f"{field}.host_price_usd", item=host.id, condition=entry.condition)
    return price.price_usd, price.includes_tax if told is None else told


def _power(entry: MachineInput, gpu: Gpu, host: Host | None, figures: Figures, field: str) -> tuple[Figure, Figure]:
    """Wall power of a whole machine, loaded and idle."""
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


def _resale_today(
    entry: MachineInput,
    owned: Owned,
    host_price: tuple[Figure, bool],
    tax_rate: Figure,
    figures: Figures,
    field: str,
) -> tuple[Figure, Figure]:
    """What one owned card and one owned host would bring today, without the tax that a price may include."""
    gpu = find_gpu(figures.catalog, entry.gpu, field=f"{field}.gpu")
    used = hardware_price(figures.catalog, gpu.id, "used")

    def aged(price: Figure, taxed: bool, part: str) -> Figure:
        ratio = interpolated(residual_curve(entry, gpu, figures, part), owned.age_months)
        if not taxed:
            return combined(lambda usd, share: usd * share, price, ratio)
        return combined(lambda usd, share, rate: usd * share / (1.0 + rate), price, ratio, tax_rate)

    return (
        figures.usd_or(
            owned.resale_gpu_usd,
            lambda: (
                used.price_usd
                if used is not None
                else aged(*_card_price(entry, gpu, figures, f"{field}.gpu_price_usd"), "gpu")
            ),
            field=f"{field}.owned.resale_gpu_usd",
        ),
        figures.usd_or(
            owned.resale_host_usd, lambda: aged(*host_price, "host"), field=f"{field}.owned.resale_host_usd"
        ),
    )


def _warnings(id: str, entry: MachineInput, gpu: Gpu, host: Host | None, load_w: Figure) -> list[Issue]:
    if host is None or host.psu_w is None or load_w.value <= host.psu_w:
        return []
    params = {"machine": id, "load_w": load_w.value, "psu_w": host.psu_w, "gpus": entry.gpus, "gpu": gpu.name}
    return [Issue(code="psu_too_small", field=f"machines.{id}.host", params=params)]
