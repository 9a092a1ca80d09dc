"""Types of owned machines: prices, power, life and resale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from planner.catalog.query import find_gpu, find_host
from planner.catalog.records import Catalog, Figure, Gpu, HardwarePrice, Host, first_day
from planner.cost.capex import residual_ratio, unit_schedule
from planner.energy.power import pc_wall_w, server_wall_w
from planner.errors import InputError
from planner.scenario.finance import LeaseTerms
from planner.scenario.schema import MachineInput, Scenario
from planner.strategy.parameters import ParameterTable, given
from planner.strategy.problem import Cohort, Issue, Machine, SaleColumns
from planner.strategy.resolve.failures import resolve_failures
from planner.strategy.resolve.figures import Figures, combined, interpolated
from planner.strategy.resolve.financing import check_lease, lease_of, with_finance

_LIFE_OF = {"server": "server", "workstation": "consumer"}
_SERVER_SLOTS = 8  # hosts of this size stand in racks and are looked after as servers


def resolve_machine(
    id: str, scenario: Scenario, figures: Figures, table: ParameterTable, site_pue: Figure
) -> tuple[Machine, Gpu, list[Issue]]:
    """Columns and history of one machine type, its GPU, and warnings.

    Raises
    ------
    InputError
        A missing price, a host that doesn't hold the cards, an age beyond the life or the resale curve.
    UnknownIdError
        No such GPU or host in the catalog.
    """
    entry, field = scenario.machines[id], f"machines.{id}"
    gpu = find_gpu(figures.catalog, entry.gpu, field=f"{field}.gpu")
    host = None if entry.host is None else find_host(figures.catalog, entry.host, field=f"{field}.host")
    if host is not None and entry.gpus > host.gpu_slots:
        raise InputError("too_few_slots", field=f"{field}.gpus", value=entry.gpus, host=host.id, slots=host.gpu_slots)
    server = gpu.segment == "datacenter" or (host is not None and host.gpu_slots >= _SERVER_SLOTS)
    kind = "server" if server else "workstation"
    gpu_price, gpu_taxed = _card_price(entry, gpu, figures, field)
    host_price, host_taxed = _host_price(entry, host, figures, field)
    told = entry.prices_include_tax
    load_w, idle_w = _power(entry, gpu, host, figures, field)
    if idle_w.value > load_w.value:
        raise InputError("idle_above_load", field=f"{field}.idle_w", value=idle_w.value, load_w=load_w.value)

    def column(name: str, figure: Figure, unit: str, *, floor: float = 0.0) -> int:
        return table.add(f"{field}.{name}", figure, unit, floor=floor)

    terms = lease_of(entry)
    leased = None if terms is None else _cohorts(id, scenario, gpu, figures, table, kind, terms)
    cohorts = _cohorts(id, scenario, gpu, figures, table, kind)
    gpu_taxed, host_taxed = (gpu_taxed, host_taxed) if told is None else (told, told)
    rate = scenario.tax.rate
    tax_rate = figures.assumed("tax_rate") if rate is None else given(rate)
    today = _resale_today(entry, gpu, (gpu_price, gpu_taxed), (host_price, host_taxed), tax_rate, figures, field)
    machine = Machine(
        id=id,
        gpu=gpu.id,
        gpu_name=gpu.name,
        gpus=entry.gpus,
        fixed_count=entry.count,
        owned_count=0 if entry.owned is None else entry.owned.count,
        cohorts=cohorts,
        gpu_includes_tax=gpu_taxed,
        host_includes_tax=host_taxed,
        gpu_price_at=column("gpu_price_usd", gpu_price, "USD"),
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
        resale_gpu_today_at=None if today is None else column("owned.resale_gpu_usd", today[0], "USD"),
        resale_host_today_at=None if today is None else column("owned.resale_host_usd", today[1], "USD"),
        load_w_at=column("load_w", load_w, "W"),
        idle_w_at=column("idle_w", idle_w, "W"),
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
        useful_life_at=column("useful_life_months", _useful_life(entry, figures, kind), "months"),
        maintenance_at=column(
            "maintenance_share_per_year",
            figures.given_or(entry.maintenance_share_per_year, lambda: figures.assumed("maintenance_share_per_year")),
            "1/year",
        ),
        fte_at=_fte_column(entry, scenario, figures, table, field, kind),
        failures=resolve_failures(id, entry, figures, table),
        end_of_life=_end_of_life(entry, gpu, figures, kind),
    )
    machine, outlasting = with_finance(machine, leased, entry, scenario, figures, table)
    return machine, gpu, [*_warnings(id, entry, gpu, host, load_w), *outlasting]


def _end_of_life(entry: MachineInput, gpu: Gpu, figures: Figures, kind: str) -> tuple[float, float] | None:
    """Resale over price of card and host at the end of their life; None where a curve doesn't reach so far."""
    life, age = round(_useful_life(entry, figures, kind).value), entry.age_months or 0
    ends = []
    for curve in (_curve(entry, gpu, figures, part) for part in ("gpu", "host")):
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
    if entry.gpu_price_usd is not None:
        return figures.usd(entry.gpu_price_usd, field=f"{field}.gpu_price_usd"), False
    price = hardware_price(figures.catalog, gpu.id, entry.condition)
    if price is None:
        raise InputError("missing_price", field=f"{field}.gpu_price_usd", item=gpu.id, condition=entry.condition)
    return price.price_usd, price.includes_tax


def _host_price(entry: MachineInput, host: Host | None, figures: Figures, field: str) -> tuple[Figure, bool]:
    if entry.host_price_usd is not None:
        return figures.usd(entry.host_price_usd, field=f"{field}.host_price_usd"), False
    if host is None:
        raise InputError("missing_host", field=f"{field}.host", known=sorted(figures.catalog.hosts))
    price = hardware_price(figures.catalog, host.id, entry.condition) or hardware_price(figures.catalog, host.id, "new")
    if price is None:
        raise InputError("missing_price", field=f"{field}.host_price_usd", item=host.id, condition=entry.condition)
    return price.price_usd, price.includes_tax


def _power(entry: MachineInput, gpu: Gpu, host: Host | None, figures: Figures, field: str) -> tuple[Figure, Figure]:
    """Wall power of a whole machine, loaded and idle."""
    if entry.load_w is not None and entry.idle_w is not None:
        return given(entry.load_w), given(entry.idle_w)
    if host is None:
        missing = "load_w" if entry.load_w is None else "idle_w"
        raise InputError("missing_power", field=f"{field}.{missing}", known=sorted(figures.catalog.hosts))
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
    gpu: Gpu,
    prices: tuple[Figure, bool],
    host_prices: tuple[Figure, bool],
    tax_rate: Figure,
    figures: Figures,
    field: str,
) -> tuple[Figure, Figure] | None:
    """What one owned card and one owned host would bring today, without the tax that a price may include."""
    owned = entry.owned
    if owned is None:
        return None
    used = hardware_price(figures.catalog, gpu.id, "used")

    def aged(price: Figure, taxed: bool, part: str) -> Figure:
        ratio = interpolated(_curve(entry, gpu, figures, part), owned.age_months)
        if not taxed:
            return combined(lambda usd, share: usd * share, price, ratio)
        return combined(lambda usd, share, rate: usd * share / (1.0 + rate), price, ratio, tax_rate)

    return (
        figures.usd_or(
            owned.resale_gpu_usd,
            lambda: used.price_usd if used is not None else aged(*prices, "gpu"),
            field=f"{field}.owned.resale_gpu_usd",
        ),
        figures.usd_or(
            owned.resale_host_usd, lambda: aged(*host_prices, "host"), field=f"{field}.owned.resale_host_usd"
        ),
    )


def _curve(entry: MachineInput, gpu: Gpu, figures: Figures, part: str) -> Mapping[int, Figure]:
    own = entry.residual_gpu if part == "gpu" else entry.residual_host
    if own is not None:
        return {age: given(ratio) for age, ratio in own.items()}
    curves = figures.catalog.residuals
    if part == "host":
        return curves["host-default"].ratio_by_age_months
    id = {"consumer": "gpu-consumer", "datacenter": "gpu-datacenter"}.get(gpu.segment, "gpu-default")
    return curves[id].ratio_by_age_months


def _useful_life(entry: MachineInput, figures: Figures, kind: str) -> Figure:
    """Age at which a unit is replaced; without a range, since the dates of purchases and sales follow from it."""
    if entry.useful_life_months is not None:
        return given(entry.useful_life_months)
    return replace(figures.assumed(f"useful_life_months_{_LIFE_OF[kind]}"), low=None, high=None)


def _cohorts(
    id: str,
    scenario: Scenario,
    gpu: Gpu,
    figures: Figures,
    table: ParameterTable,
    kind: str,
    lease: LeaseTerms | None = None,
) -> tuple[Cohort, ...]:
    """Histories of a machine type, bought or under a lease."""
    entry, field = scenario.machines[id], f"machines.{id}"
    life = round(_useful_life(entry, figures, kind).value)
    bought_age = entry.age_months or 0
    returned = lease is not None and lease.at_end == "return"
    term = 0 if lease is None or lease.term_months is None else lease.term_months
    if lease is not None:
        check_lease(id, lease, bought_age, life)

    def ratio(part: str, age: int) -> Figure:
        try:
            return interpolated(_curve(entry, gpu, figures, part), age)
        except InputError as error:
            raise InputError(error.code, field=f"{field}.residual_{part}", **error.params) from None

    def ratio_column(part: str, age: int) -> int:
        return table.add(f"{field}.residual_{part}.{age}", ratio(part, age), "-")

    def cohort(*, owned: bool) -> Cohort:
        first_age = entry.owned.age_months if owned and entry.owned is not None else bought_age
        try:
            schedule = unit_schedule(
                horizon_months=scenario.horizon_months,
                useful_life_months=life,
                first_age=first_age,
                replacement_age=bought_age,
                owned=owned,
                replaced_age=bought_age + term if returned else None,
            )
        except InputError as error:
            raise InputError(error.code, field=f"{field}.{error.field}", **error.params) from None
        sales = []
        for position, sale in enumerate(schedule.sales):
            leased = lease is not None and not (owned and position == 0)
            if leased and (returned or sale.sold_age - sale.bought_age < term):
                continue  # it goes back, or is still under its lease
            for part in ("gpu", "host"):
                if ratio(part, sale.bought_age).value == 0:
                    raise InputError("residual_zero", field=f"{field}.residual_{part}", age_months=sale.bought_age)
            sales.append(
                SaleColumns(
                    sale=sale,
                    gpu_sold_at=ratio_column("gpu", sale.sold_age),
                    gpu_bought_at=ratio_column("gpu", sale.bought_age),
                    host_sold_at=ratio_column("host", sale.sold_age),
                    host_bought_at=ratio_column("host", sale.bought_age),
                )
            )
        count = entry.owned.count if owned and entry.owned is not None else None
        return Cohort(
            owned=owned, count=count, there_after=0, purchase_months=schedule.purchase_months, sales=tuple(sales)
        )

    cohorts = [cohort(owned=False)]
    if entry.owned is not None:
        cohorts.append(cohort(owned=True))
    return tuple(cohorts)


def _warnings(id: str, entry: MachineInput, gpu: Gpu, host: Host | None, load_w: Figure) -> list[Issue]:
    if host is None or host.psu_w is None or load_w.value <= host.psu_w:
        return []
    params = {"machine": id, "load_w": load_w.value, "psu_w": host.psu_w, "gpus": entry.gpus, "gpu": gpu.name}
    return [Issue(code="psu_too_small", field=f"machines.{id}.host", params=params)]


def residual_at(
    entry: MachineInput, gpu: Gpu, figures: Figures, part: Literal["gpu", "host"], age_months: int
) -> float:
    """Resale value over price of a card or host at an age, as a plan reads its curve. [-]

    Raises
    ------
    InputError
        Beyond the last age given.
    """
    return interpolated(_curve(entry, gpu, figures, part), age_months).value
