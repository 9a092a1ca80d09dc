"""Types of owned machines: prices, power, life and resale."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from planner.catalog.query import find_gpu, find_host
from planner.catalog.records import Figure, Gpu, Host
from planner.cost.capex import residual_ratio
from planner.errors import InputError
from planner.scenario.machines import MachineInput
from planner.scenario.schema import Scenario
from planner.strategy.machines import Machine, Sold
from planner.strategy.parameters import ParameterTable, given
from planner.strategy.problem import Issue
from planner.strategy.resolve.at_start import entry_after_start
from planner.strategy.resolve.cohorts import residual_curve, resolve_cohorts, useful_life, with_values
from planner.strategy.resolve.failures import resolve_failures
from planner.strategy.resolve.figures import Figures, interpolated
from planner.strategy.resolve.financing import lease_of, with_contracts, with_finance
from planner.strategy.resolve.hardware_prices import card_price, hardware_price, host_price_of, resale_today
from planner.strategy.resolve.power import told_power

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
    gpu_price, gpu_taxed = card_price(entry, gpu, figures, f"{field}.{card}gpu_price_usd")
    host_price, host_taxed = host_price_of(entry, host, figures, field)
    load_w, idle_w = told_power(entry, gpu, host, figures, f"{field}.{card}")
    if idle_w.value > load_w.value:
        raise InputError("idle_above_load", field=f"{field}.{card}idle_w", value=idle_w.value, load_w=load_w.value)

    def column(name: str, figure: Figure, unit: str, *, floor: float = 0.0) -> int:
        return table.add(f"{field}.{name}", figure, unit, floor=floor)

    today = None
    if told.owned is not None:
        today = resale_today(told, told.owned, (host_price, host_taxed), _tax_rate(scenario, figures), figures, field)

    def today_column(part: int) -> int | None:
        name = ("owned.resale_gpu_usd", "owned.resale_host_usd")[part]
        return None if today is None else column(name, today[part], "USD")

    if entry.fixed_count == 0:
        return ResolvedMachine(machine=None, gpu=gpu, sold=_sold(id, told, today_column), warnings=())
    kept = entry.owned is not None
    cohorts = resolve_cohorts(id, entry, scenario, gpu, figures, table, kind)
    gpu_price_at = column(f"{card}gpu_price_usd", gpu_price, "USD")
    host_price_at = column("host_price_usd", host_price, "USD")
    installation_at = column(
        "installation_usd",
        figures.usd_or(
            entry.installation_usd,
            lambda: figures.assumed(f"installation_usd_{kind}"),
            field=f"{field}.installation_usd",
        ),
        "USD",
    )
    values: dict[str, tuple[int | None, int | None]] = {}
    for name, units in {} if entry.owned is None else entry.owned.batches.items():
        if not name:
            values["owned"] = (None if upgraded else today_column(0), today_column(1))
            continue
        where = f"owned.others.{name}"
        usd = resale_today(told, units, (host_price, host_taxed), _tax_rate(scenario, figures), figures, field, where)
        gpu_at, host_at = (
            column(f"{where}.resale_{part}_usd", figure, "USD")
            for part, figure in zip(("gpu", "host"), usd, strict=True)
        )
        values[f"owned.{name}"] = (gpu_at, host_at)
    machine = Machine(
        id=id,
        gpu=gpu.id,
        gpu_name=gpu.name,
        gpus=entry.gpus,
        fixed_count=entry.fixed_count,
        owned_count=0 if entry.owned is None else entry.owned.total,
        cohorts=with_values(cohorts, values),
        gpu_includes_tax=gpu_taxed,
        host_includes_tax=host_taxed,
        gpu_price_at=gpu_price_at,
        host_price_at=host_price_at,
        installation_at=installation_at,
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
    leased = None if leased is None else with_values(leased, values)
    machine = with_contracts(machine, entry, scenario, figures, table)
    machine, outlasting = with_finance(machine, leased, entry, scenario, figures, table)
    warnings = [*_warnings(id, entry, gpu, host, load_w), *_priced_as_new(id, entry, host, figures), *outlasting]
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


def _warnings(id: str, entry: MachineInput, gpu: Gpu, host: Host | None, load_w: Figure) -> list[Issue]:
    if host is None or host.psu_w is None or load_w.value <= host.psu_w:
        return []
    params = {"machine": id, "load_w": load_w.value, "psu_w": host.psu_w, "gpus": entry.gpus, "gpu": gpu.name}
    return [Issue(code="psu_too_small", field=f"machines.{id}.host", params=params)]


def _priced_as_new(id: str, entry: MachineInput, host: Host | None, figures: Figures) -> list[Issue]:
    """Used machines whose host has no used price, so that a new one's stands for it."""
    if host is None or entry.condition == "new" or entry.host_price_usd is not None:
        return []
    if hardware_price(figures.catalog, host.id, entry.condition) is not None:
        return []
    field = f"machines.{id}.host_price_usd"
    return [Issue(code="used_host_priced_as_new", field=field, params={"machine": id, "host": host.name})]
