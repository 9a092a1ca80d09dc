"""Units of a machine type by their history: when each is bought, comes, is replaced and sold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from planner.catalog.records import Figure, Gpu
from planner.cost.capex import Sale, Schedule, unit_schedule
from planner.errors import InputError
from planner.scenario.finance import LeaseTerms
from planner.scenario.machines import MachineInput
from planner.scenario.owned import Owned, OwnedUnits
from planner.scenario.schema import Scenario
from planner.strategy.machines import Cohort, SaleColumns
from planner.strategy.parameters import ParameterTable, given
from planner.strategy.resolve.figures import Figures, interpolated
from planner.strategy.resolve.financing import check_lease

_LIFE_OF = {"server": "server", "workstation": "consumer"}


def resolve_cohorts(
    id: str,
    entry: MachineInput,
    scenario: Scenario,
    gpu: Gpu,
    figures: Figures,
    table: ParameterTable,
    kind: str,
    lease: LeaseTerms | None = None,
) -> tuple[Cohort, ...]:
    """Cohorts of a machine type, bought or leased: one for each purchase, then the units that are there already.

    Raises
    ------
    InputError
        An age beyond the life or the resale curve, a lease longer than a life, or machines that come after the end of
        the plan.
    """
    field, horizon = f"machines.{id}", scenario.horizon_months
    life = round(useful_life(entry, figures, kind).value)
    bought_age = entry.age_months or 0
    returned = lease is not None and lease.at_end == "return"
    term = 0 if lease is None or lease.term_months is None else lease.term_months
    if lease is not None:
        check_lease(id, lease, bought_age, life)

    def ratio_column(part: str, age: int) -> int:
        return table.add(f"{field}.residual_{part}.{age}", _ratio(entry, gpu, figures, part, age, field), "-")

    def sales(schedule: Schedule, host_older: int, units: OwnedUnits | None) -> tuple[SaleColumns, ...]:
        columns = []
        for position, sale in enumerate(schedule.sales):
            first = units is not None and position == 0
            if first and units is not None and not _yours(units, sale):
                continue
            leased = lease is not None and not first
            if leased and (returned or sale.sold_age - sale.bought_age < term):
                continue  # it goes back, or is still under its lease
            older = host_older if position == 0 else 0
            host_bought, host_sold = sale.bought_age + older, sale.sold_age + older
            for part, age in (("gpu", sale.bought_age), ("host", host_bought)):
                if _ratio(entry, gpu, figures, part, age, field).value == 0:
                    raise InputError("residual_zero", field=f"{field}.residual_{part}", age_months=age)
            columns.append(
                SaleColumns(
                    sale=sale,
                    position=position,
                    gpu_sold_at=ratio_column("gpu", sale.sold_age),
                    gpu_bought_at=ratio_column("gpu", sale.bought_age),
                    host_sold_at=ratio_column("host", host_sold),
                    host_bought_at=ratio_column("host", host_bought),
                )
            )
        return tuple(columns)

    def cohort(
        *,
        count: int | None,
        first_age: int,
        owned: bool = False,
        new_cards: bool = False,
        host_older: int = 0,
        ordered: int = 0,
        delivery: int = 0,
        units: OwnedUnits | None = None,
        name: str = "",
    ) -> Cohort:
        leased_until = None if units is None else units.lease_ends_after_months
        if units is not None and leased_until is not None and units.nominal_buyout_usd is not None:
            held = leased_until - units.comes_after_months
            if units.age_months + held > life:
                where = f"{field}.{name.replace('owned.', 'owned.others.')}.lease_ends_after_months"
                raise InputError("lease_longer_than_life", field=where, value=held, months=life - units.age_months)
        try:
            schedule = unit_schedule(
                horizon_months=horizon,
                useful_life_months=life,
                first_age=first_age,
                replacement_age=bought_age,
                owned=owned,
                ordered_month=ordered,
                delivery_months=delivery,
                replaced_age=bought_age + term if returned else None,
                comes_after=0 if units is None else units.comes_after_months,
                replacement_after=None if units is None else units.replacement_after_months,
                goes_after=None if units is None or units.nominal_buyout_usd is not None else leased_until,
            )
        except InputError as error:
            where = (
                (error.field or "").replace("owned", name.replace("owned.", "owned.others.")) if owned else error.field
            )
            raise InputError(error.code, field=f"{field}.{where}", **error.params) from None
        return Cohort(
            owned=owned,
            new_cards=new_cards,
            count=count,
            there_after=ordered + delivery if units is None else units.comes_after_months,
            purchase_months=schedule.purchase_months,
            paid=schedule.paid,
            delivery_months=delivery,
            sales=sales(schedule, host_older, units),
            name=name,
            value_counts=scenario.owned_value_counts
            if units is None or units.value_counts is None
            else units.value_counts,
            lives=schedule.sales,
            leased_until=leased_until,
        )

    cohorts = [
        cohort(first_age=bought_age, count=count, ordered=ordered, delivery=delivery)
        for ordered, count, delivery in _purchases(entry, field, horizon)
    ]
    for name, units in {} if entry.owned is None else entry.owned.batches.items():
        new_cards = isinstance(units, Owned) and units.upgraded  # its life begins anew with the cards
        if units.comes_after_months >= horizon:
            where = f"{field}.owned.{f'others.{name}.' if name else ''}comes_after_months"
            raise InputError("delivered_after_horizon", field=where, value=units.comes_after_months, months=horizon)
        cohorts.append(
            cohort(
                count=units.count,
                first_age=bought_age if new_cards else units.age_months,
                owned=True,
                new_cards=new_cards,
                host_older=units.age_months - bought_age if new_cards else units.host_older,
                delivery=entry.delivery_months,
                units=units,
                name=f"owned.{name}" if name else "owned",
            )
        )
    return tuple(cohorts)


def _yours(units: OwnedUnits, sale: Sale) -> bool:
    """Whether units that are there already can be sold: not those that go back, or are under their lease still."""
    ends = units.lease_ends_after_months
    return ends is None or (units.nominal_buyout_usd is not None and sale.month >= ends)


def with_values(
    cohorts: tuple[Cohort, ...], columns: Mapping[str, tuple[int | None, int | None]]
) -> tuple[Cohort, ...]:
    """Cohorts of owned machines with the columns of what a card and a host of them would bring today, by their name."""
    return tuple(
        replace(each, resale_gpu_today_at=columns[each.name][0], resale_host_today_at=columns[each.name][1])
        if each.owned
        else each
        for each in cohorts
    )


def _purchases(entry: MachineInput, field: str, horizon_months: int) -> list[tuple[int, int | None, int]]:
    """Months at whose end machines are ordered, their number (None: what the work needs), and how long they take."""
    delivery = entry.delivery_months
    if entry.purchases is None:
        if entry.owned is not None and entry.count == entry.owned.total:  # none is bought, so none is waited for
            return [(0, None, 0)]
        if delivery >= horizon_months:
            raise InputError(
                "delivered_after_horizon", field=f"{field}.delivery_months", value=delivery, months=horizon_months
            )
        return [(0, None, delivery)]
    for month in sorted(entry.purchases):
        if month + delivery >= horizon_months:
            params = {"value": month, "delivery_months": delivery, "months": horizon_months}
            raise InputError("purchase_after_horizon", field=f"{field}.purchases", **params)
    return [(month, count, delivery) for month, count in sorted(entry.purchases.items())]


def _ratio(entry: MachineInput, gpu: Gpu, figures: Figures, part: str, age: int, field: str) -> Figure:
    try:
        return interpolated(residual_curve(entry, gpu, figures, part), age)
    except InputError as error:
        raise InputError(error.code, field=f"{field}.residual_{part}", **error.params) from None


def residual_curve(entry: MachineInput, gpu: Gpu, figures: Figures, part: str) -> Mapping[int, Figure]:
    """Residual ratios of a card or a host by age: own ones, else those of the catalog."""
    own = entry.residual_gpu if part == "gpu" else entry.residual_host
    if own is not None:
        return {age: given(ratio) for age, ratio in own.items()}
    curves = figures.catalog.residuals
    if part == "host":
        return curves["host-default"].ratio_by_age_months
    id = {"consumer": "gpu-consumer", "datacenter": "gpu-datacenter"}.get(gpu.segment, "gpu-default")
    return curves[id].ratio_by_age_months


def useful_life(entry: MachineInput, figures: Figures, kind: str) -> Figure:
    """Age at which a unit is replaced; without a range, since the dates of purchases and sales follow from it."""
    if entry.useful_life_months is not None:
        return given(entry.useful_life_months)
    return replace(figures.assumed(f"useful_life_months_{_LIFE_OF[kind]}"), low=None, high=None)


def residual_at(entry: MachineInput, gpu: Gpu, figures: Figures, part: str, age_months: int) -> float:
    """Resale value over price of a card or host at an age, as a plan reads its curve. [-]

    Raises
    ------
    InputError
        Beyond the last age given.
    """
    return interpolated(residual_curve(entry, gpu, figures, part), age_months).value
