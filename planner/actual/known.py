"""What rows about the past may name: months, jobs, resources, kinds of cost, currencies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as part
from typing import Final

from planner.cells import CellError, shown
from planner.scenario.schema import Scenario
from planner.strategy.evaluate import Result, StrategyResult
from planner.strategy.resolve.figures import Figures
from planner.validation import near

SITE: Final = "site"
CLOUD: Final = "cloud"
NOT_CASH: Final = "opportunity"
KINDS: Final = (
    "gpu", "host", "installation", "tax_purchase", "buyout", "resale_gpu", "resale_host", "electricity", "colocation",
    "maintenance", "staff_local", "staff_cloud", "rental", "commitment", "overflow", "storage", "egress", "ingress",
    "free_hours", "credit", "loan_proceeds", "loan_repayment", "lease", "running_loan", "running_lease",
    "tax_lease", "tax_local", "tax_rented",
)  # fmt: skip
"""Kinds of lines of which an invoice may speak, besides those of the plan at hand."""

_CALENDAR = re.compile(r"(?a)(\d{4})-(\d{2})")
_WHOLE = re.compile(r"(?a)\d{1,4}")
_MONTHS: Final = 12
_LONGEST_NAME: Final = 200
_MOST_SEARCHED: Final = 200  # each search compares a name with thousands


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Names of one plan, and what they stand for."""

    horizon_months: int
    plan_starts: str | None  # calendar month of month 1, `YYYY-MM`
    jobs: tuple[str, ...]
    machines: Mapping[str, int]  # GPUs of one, by name
    offers: Mapping[str, int]  # GPUs of an instance, by id: those the plan may rent, and all of the catalog
    providers: tuple[str, ...]
    kinds: tuple[str, ...]
    line_ids: tuple[str, ...]
    rates: Mapping[str, float]  # USD per unit of a currency
    searched: dict[tuple[str, str], tuple[str, ...]] = part(default_factory=dict, repr=False, compare=False)

    def month(self, field: str, text: str) -> int:
        """Month of the plan that a cell names; raises CellError."""
        if _WHOLE.fullmatch(text):
            return self._within(field, text, int(text))
        match = _CALENDAR.fullmatch(text)
        if match is None or not 1 <= int(match[2]) <= _MONTHS:
            raise CellError(field, shown(text), f"a month of the plan from 1, or {self._calendar_form()}")
        if self.plan_starts is None:
            expected = "a month of the plan from 1: the scenario has no plan_starts, such as 2026-10"
            raise CellError(field, shown(text), expected)
        return self._within(field, text, months_between(self.plan_starts, text) + 1)

    def _calendar_form(self) -> str:
        return "2026-10" if self.plan_starts is None else self.plan_starts

    def _within(self, field: str, text: str, month: int) -> int:
        if not 1 <= month <= self.horizon_months:
            until = f"from 1 to {self.horizon_months}"
            if self.plan_starts is not None:
                until += f" ({self.plan_starts} to {later(self.plan_starts, self.horizon_months - 1)})"
            raise CellError(field, shown(text), f"a month of the plan, {until}")
        return month

    def job(self, field: str, text: str) -> str:
        """Name of a job; raises CellError."""
        if text in self.jobs:
            return text
        raise CellError(field, shown(text), self._named("a job of the scenario", text, self.jobs))

    def place(self, field: str, text: str) -> str:
        """A machine or an offer on which something ran; raises CellError."""
        if text in self.machines or text in self.offers:
            return text
        names = (*self.machines, *self.offers)
        raise CellError(field, shown(text), self._named("a machine of the scenario or the id of an offer", text, names))

    def resource(self, field: str, text: str) -> str:
        """A machine, an offer, a provider, `site` or `cloud`; raises CellError."""
        if text in self.machines or text in self.offers or text in self.providers or text in (SITE, CLOUD):
            return text
        names = (*self.machines, *self.providers, SITE, CLOUD, *self.offers)
        expected = f"a machine of the scenario, the id of an offer or a provider, {SITE} or {CLOUD}"
        raise CellError(field, shown(text), self._named(expected, text, names))

    def kind(self, field: str, text: str) -> str:
        """Kind or id of a cost line, or nothing for all lines of a resource; raises CellError."""
        if not text or text in self.kinds or text in self.line_ids:
            return text
        if text.partition(".")[0] in self.kinds:
            names = tuple(id for id in self.line_ids if id.startswith(text.partition(".")[0]))
            raise CellError(
                field, shown(text), self._named("the id of a line of the plan, or its kind alone", text, names)
            )
        raise CellError(field, shown(text), self._named("a kind of cost line", text, self.kinds))

    def gpus(self, place: str) -> int:
        """GPUs of one machine or instance."""
        return self.machines[place] if place in self.machines else self.offers[place]

    def _named(self, what: str, text: str, names: tuple[str, ...]) -> str:
        """What is expected, with the nearest names, or all of them where they are few."""
        key = (what, text)  # the same slip stands in thousands of rows
        if key not in self.searched and len(self.searched) < _MOST_SEARCHED and 0 < len(text) <= _LONGEST_NAME:
            self.searched[key] = tuple(near(text, names))
        if close := self.searched.get(key):
            return f"{what}: {' or '.join(close)}?"
        return f"{what}: {', '.join(names)}" if 0 < len(names) <= 12 else what


def known_names(scenario: Scenario, result: Result, strategy: StrategyResult) -> Known:
    """What rows about the past of a plan may name.

    Parameters
    ----------
    scenario : Scenario
        For its first month and its currencies.
    result : Result
        The plan.
    strategy : StrategyResult
        The way that was followed.
    """
    problem, catalog = result.problem, result.catalog
    pool = {offer.id: offer.gpu_count for offer in problem.offers}
    others = {
        offer.id: int(offer.gpu_count)
        for offer in catalog.offers.values()
        if offer.gpu_count >= 1 and offer.gpu_count == int(offer.gpu_count)
    }
    figures = Figures(catalog, scenario.currencies)
    codes = {"USD", *catalog.fx, *scenario.currencies}
    lines = () if strategy.evaluation is None else strategy.evaluation.lines
    planned = [line.kind for line in lines if line.kind != NOT_CASH]
    return Known(
        horizon_months=problem.horizon_months,
        plan_starts=scenario.plan_starts,
        jobs=tuple(job.id for job in problem.jobs),
        machines={sold.id: sold.gpus for sold in problem.sold}
        | {machine.id: machine.gpus for machine in problem.machines},
        offers={**others, **pool},
        providers=tuple(dict.fromkeys([*(provider.id for provider in problem.providers), *catalog.providers])),
        kinds=tuple(dict.fromkeys([*planned, *KINDS])),
        line_ids=tuple(line.id for line in lines if line.kind != NOT_CASH),
        rates={code: figures.rate(code, field="currency").value for code in sorted(codes)},
    )


def months_between(first: str, second: str) -> int:
    """Months from one calendar month to another.

    >>> months_between("2026-10", "2027-01")
    3
    """
    (year, month), (later_year, later_month) = (map(int, text.split("-")) for text in (first, second))
    return (later_year - year) * _MONTHS + later_month - month


def later(first: str, months: int) -> str:
    """The calendar month so many months after another.

    >>> later("2026-10", 3)
    '2027-01'
    """
    year, month = map(int, first.split("-"))
    years, rest = divmod(month - 1 + months, _MONTHS)
    return f"{year + years:04d}-{rest + 1:02d}"
