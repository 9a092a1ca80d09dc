"""Plan report -> what the Plan page says: titles, bars, lines and tables, without Streamlit and without new money."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planner.catalog.records import Catalog
from planner.messages import render
from planner.report.optimum_text import no_best_mix_lines
from planner.strategy.compare import NEAR_TIE_SHARE
from planner.units import HALF_CENT_USD
from ui import formatting
from ui.formatting import Currency, escaped
from ui.i18n import t
from ui.limit_words import limit_problem, with_labels
from ui.names import short_gpu
from ui.palette import WAYS

Row = Mapping[str, Any]
_MIXED = ("hybrid", "optimal")
LEAST_SHARE = 0.1  # of the runs of a job, from which a title says that they run there


@dataclass(frozen=True, slots=True, kw_only=True)
class Rented:
    """An offer as a title names it."""

    instance: str
    term: str


class View:
    """One plan with the names and terms that its ids stand for."""

    def __init__(self, report: Row, document: Row, catalog: Catalog, currency: Currency) -> None:
        self.report = report
        self.document = document
        self.catalog = catalog
        self.currency = currency
        found = report.get("optimal")
        twin = None if found is None else found["same_as"]  # the best mix is said to be that plan, not drawn again
        ways = [way for way in report["strategies"] if twin is None or way["kind"] != "optimal"]
        self.strategies: list[Row] = sorted(ways, key=lambda way: WAYS.index(way["kind"]))
        self.recommended: Row | None = next(
            (way for way in self.strategies if way["id"] == report["recommended"]), None
        )

    @property
    def figures(self) -> dict[str, float]:
        """Values that the plan used, by id: paths of the scenario and names of assumptions."""
        return {figure["id"]: figure["value"] for figure in self.report["figures"]}

    @property
    def feasible(self) -> list[Row]:
        """Ways that work, the recommended one first."""
        ways = [way for way in self.strategies if way["feasible"]]
        return sorted(ways, key=lambda way: way is not self.recommended)

    @property
    def distinct(self) -> list[Row]:
        """Ways that work and differ: of those that are the same plan only one, the recommended or the simpler."""
        order = sorted(self.feasible, key=lambda way: (way is not self.recommended, way["kind"] in _MIXED))
        kept: list[Row] = []
        for way in order:
            if not any(same_plan(way, other) for other in kept):
                kept.append(way)
        return [way for way in self.feasible if way in kept]

    @property
    def others(self) -> list[Row]:
        """Ways that are not recommended and not the same plan as the recommended one."""
        return [
            way
            for way in self.strategies
            if way is not self.recommended
            and not (self.recommended and way["feasible"] and same_plan(way, self.recommended))
        ]

    def gpu_name(self, gpu: str) -> str:
        """Short name of a card."""
        return short_gpu(self.catalog.gpus[gpu].name) if gpu in self.catalog.gpus else gpu

    def offer(self, id: str) -> Rented:
        """What an offer of the catalog, or one of the scenario's own, rents."""
        own = self.document.get("offers", {}).get(id, {})
        known = self.catalog.offers.get(id)
        provider = str(own.get("provider") or (known.provider if known else ""))
        name = self.catalog.providers[provider].name if provider in self.catalog.providers else provider
        instance = str(own.get("instance_type") or (known.instance_type if known else id))
        return Rented(
            instance=f"{name} {instance}".strip(),
            term=str(own.get("term") or (known.term if known else "on_demand")),
        )

    def resource(self, job: Row) -> str:
        """Words for where a job of the report runs."""
        if not job["rented"]:
            return t("resource.machine", gpu=self.gpu_name(job["gpu"]), machine=job["resource"])
        return self.offer_words(job["resource"])

    def offer_words(self, id: str) -> str:
        """Provider, instance and term of an offer."""
        offer = self.offer(id)
        return t("resource.offer", instance=offer.instance, term=t(f"term.{offer.term}"))

    def place_name(self, id: str) -> str:
        """What a cost line is for: a machine as the scenario calls it, an offer, a provider."""
        if id in self.catalog.offers or id in self.document.get("offers", {}):
            return self.offer_words(id)
        return self.catalog.providers[id].name if id in self.catalog.providers else id

    def rented_gpus(self) -> list[str]:
        """Short names of the cards that the recommended way rents."""
        return list(dict.fromkeys(name for name, _ in self.rented(self.recommended))) if self.recommended else []

    def owned(self, way: Row) -> list[tuple[str, int]]:
        """Cards that a way owns: short name and number."""
        return [
            (self.gpu_name(machine["gpu"]), machine["count"] * machine["gpus_per_machine"])
            for machine in way["machines"]
            if machine["count"]
        ]

    def rented(self, way: Row) -> list[tuple[str, int]]:
        """Cards that a way rents: short name and number that one run uses."""
        return [(self.gpu_name(job["gpu"]), job["gpus"]) for job in way["jobs"] if job["rented"]]

    def owned_words(self, way: Row, *, digits: bool = False) -> str:
        """ "four RTX 4090", several kinds joined."""
        parts = [f"{count if digits else formatting.number_word(count)} {gpu}" for gpu, count in self.owned(way)]
        return formatting.listed(parts)

    def rented_words(self, way: Row, *, digits: bool = False) -> str:
        """ "eight A100": the most cards of each kind that one run uses."""
        most: dict[str, int] = {}
        for gpu, count in self.rented(way):
            most[gpu] = max(count, most.get(gpu, 0))
        return formatting.listed(
            f"{count if digits else formatting.number_word(count)} {gpu}" for gpu, count in most.items()
        )

    def work_words(self, way: Row, *, rented: bool) -> str:
        """What the owned or the rented part does: "daily work", "key runs" or the names of the jobs."""
        ids = self._work_of(way, rented=rented)
        classes = {self.document["jobs"][id].get("class", "development") for id in ids}
        if len(classes) == 1:
            return t(f"work_of.{classes.pop()}")
        return formatting.listed(escaped(id) for id in ids)

    def _work_of(self, way: Row, *, rented: bool) -> dict[str, None]:
        """Jobs of the owned or the rented part, in their order."""
        there = [job for job in way["jobs"] if job["rented"] is rented]
        return dict.fromkeys(job["id"] for job in [job for job in there if self._counts(way, job)] or there)

    def _counts(self, way: Row, job: Row) -> bool:
        """Whether a place does enough of a job to be named: not one that helps out until machines are there."""
        runs = sum(other["runs"] for other in way["jobs"] if other["id"] == job["id"])
        return bool(job["runs"] >= LEAST_SHARE * runs)

    def title(self) -> str:
        """The answer as one sentence."""
        way = self.recommended
        if way is None:
            return t("title.none")
        if way["kind"] == "local" or not self.rented(way):
            return t("title.local", owned=self.owned_words(way))
        if way["kind"] == "cloud" or not self.owned(way):
            return t("title.cloud", rented=self.rented_words(way))
        owned_work, rented_work = (self.work_words(way, rented=rented) for rented in (False, True))
        if owned_work != rented_work and {job["id"] for job in way["jobs"]} == {*self._work_of(way, rented=True)}:
            rented_work = t("work_of.rest")
        words = {"owned": self.owned_words(way), "rented": self.rented_words(way)}
        if owned_work == rented_work:
            return t("title.both", work=owned_work, **words)
        return t("title.hybrid", owned_work=owned_work, rented_work=rented_work, **words)

    def sentence(self) -> str:
        """The total, and how far the other ways are from it."""
        way = self.recommended
        if way is None:
            return t("sentence.none")
        total = t(
            "sentence.total",
            total=formatting.money(way["tco_usd"], self.currency),
            months=self.report["horizon_months"],
        )
        others = [other for other in self.distinct if other is not way]
        if not others:
            return t("sentence.only" if len(self.feasible) == 1 else "sentence.all_same", total=total)
        words = ", ".join(self._difference(way, other) for other in others)
        sentence = t("sentence.plain", total=total, differences=words)
        if any(gap(way["present_value_usd"], other["present_value_usd"]) < NEAR_TIE_SHARE for other in others):
            sentence += t("sentence.tie")
        elif any(_dearer(way, other) for other in others):
            sentence += t("sentence.dearer")
        if ruled_out := [other for other in self.strategies if not other["feasible"]]:
            names = formatting.listed(t(f"than.{other['kind']}") for other in ruled_out)
            key = "sentence.ruled_out" if len(ruled_out) == 1 else "sentence.ruled_out_both"
            sentence += t(key, ways=f"{names[0].upper()}{names[1:]}")
        return sentence

    def _difference(self, way: Row, other: Row) -> str:
        name = t(f"than.{other['kind']}")
        if gap(way["tco_usd"], other["tco_usd"]) < NEAR_TIE_SHARE or not other["tco_usd"]:
            return t("sentence.same", other=name)
        share = way["tco_usd"] / other["tco_usd"] - 1.0
        key = "sentence.less" if share < 0 else "sentence.more"
        return t(key, percent=formatting.percent(abs(share)), other=name)

    def label(self, way: Row) -> str:
        """Name of a way with its machines: "Mix: own 4 RTX 4090, rent 8 A100 (recommended)"."""
        mark = t("label.recommended") if way is self.recommended else ""
        return f"{way_name(way)}: {self.machines_words(way)}{mark}"

    def machines_words(self, way: Row) -> str:
        """What a way owns and rents: "own 4 RTX 4090, rent 8 A100", or only the cards where it does one alone."""
        parts = []
        if self.owned(way):
            parts.append(t("label.own", what=self.owned_words(way, digits=True)))
        if self.rented(way):
            parts.append(t("label.rent", what=self.rented_words(way, digits=True)))
        if way["kind"] not in _MIXED:
            parts = [self.owned_words(way, digits=True) or self.rented_words(way, digits=True)]
        return ", ".join(parts)

    def is_key(self, job: Row) -> bool:
        """Whether a job of the report is a key run."""
        return bool(self.document["jobs"][job["id"]].get("class") == "key")

    def longest_run(self, way: Row) -> Row:
        """The key run that takes longest, or any run where there is no key run."""
        jobs = [job for job in way["jobs"] if job["runs"] > 0] or way["jobs"]
        keys = [job for job in jobs if self.is_key(job)]
        return max(keys or jobs, key=lambda job: float(job["time_to_train_h"]))

    def problem_words(self, way: Row) -> list[str]:
        """Why a way does not work, in sentences."""
        if way.get("kind") == "optimal":
            lines = [line.removeprefix("limits: ") for line in no_best_mix_lines(dict(self.report))]
            words = [self._limit(one) or with_labels(line) for one, line in zip(way["problems"], lines, strict=True)]
            return [_ended(f"{line[:1].upper()}{line[1:]}") for line in words]
        return [
            self._limit(problem) or self._problem(problem["code"], problem["field"], problem["params"])
            for problem in way["problems"]
        ]

    def _limit(self, problem: Row) -> str | None:
        return limit_problem(problem["code"], problem["field"], problem["params"], self.currency)

    def _problem(self, code: str, field: str, params: Mapping[str, Any]) -> str:
        if "resource" in params:
            params = {**params, "resource": self._place(str(params["resource"]))}
        if code == "machines_missing":
            months = str(params["months"]).replace("-", formatting.EN_DASH)
            return t("impossible.machines_missing", **{**params, "months": months})
        if code != "deadline_missed":
            return _ended(render(code, field=_setting(field), **params))
        return t(
            "impossible.deadline.one" if params["gpus"] == 1 else "impossible.deadline.many",
            job=params["job"],
            gpus=formatting.plain(params["gpus"]),
            place=params["resource"],
            needs=formatting.duration(params["needs_h"]),
            limit=formatting.duration(params["deadline_h"]),
        )

    def _place(self, id: str) -> str:
        """Words for a machine of the scenario or an offer."""
        machine = self.document.get("machines", {}).get(id)
        if machine is None:
            return self.offer_words(id)
        return t("resource.machine", gpu=self.gpu_name(str(machine.get("gpu", ""))), machine=id)

    def cost_heading(self) -> str:
        """The finding of the cost chart."""
        way = self.recommended
        if way is None:
            return t("title.none")
        name = t(f"the.{way['kind']}")
        others = [other for other in self.distinct if other is not way]
        if not others:
            return t("heading.cost_only", way=name, total=formatting.money(way["tco_usd"], self.currency))
        words = []
        for other in others:
            than = t(f"than_short.{other['kind']}")
            if gap(way["tco_usd"], other["tco_usd"]) < NEAR_TIE_SHARE:
                words.append(t("heading.cost_same", other=than))
                continue
            key = "heading.cost_less" if way["tco_usd"] < other["tco_usd"] else "heading.cost_more"
            amount = formatting.money(abs(way["tco_usd"] - other["tco_usd"]), self.currency)
            words.append(t(key, amount=amount, other=than))
        return t("heading.cost", way=name, differences=", ".join(words))

    def reason(self) -> str:
        """The engine's reason, its amounts in the currency of the page."""
        params = self.report["reason_params"]
        name = {key: t(f"way.{params[key]}") for key in ("strategy", "runner_up") if key in params}
        match self.report["reason_code"]:
            case "cheapest" | "near_tie" as code:
                return t(
                    f"reason.{code}",
                    way=name["strategy"],
                    next=name["runner_up"],
                    saving=formatting.money(params["saving_usd"], self.currency, fine=True),
                    share=formatting.percent(params["saving_share"]),
                )
            case "same_as":
                return t("reason.same_as", way=name["strategy"], next=name["runner_up"])
            case "only_feasible":
                return t("reason.only_feasible", way=name["strategy"])
            case _:
                return escaped(str(self.report["reason"]))

    def reasons(self) -> list[str]:
        """Why the recommended way: the engine's reason, how busy owned cards are, what the others cost."""
        way = self.recommended
        if way is None:
            return []
        words = [self.reason()]
        for machine in way["machines"]:
            count = machine["count"] * machine["gpus_per_machine"]
            words.append(
                t(
                    "why.busy.one" if count == 1 else "why.busy.many",
                    count=formatting.plain(count),
                    gpu=self.gpu_name(machine["gpu"]),
                    share=formatting.percent(machine["utilisation"]),
                )
            )
        words += [
            t(
                "why.late",
                job=escaped(job["id"]),
                high=formatting.duration(job["high_h"]),
                limit=formatting.duration(job["deadline_h"]),
            )
            for job in way["jobs"]
            if None not in (job.get("deadline_h"), job.get("high_h")) and job["high_h"] > job["deadline_h"]
        ]
        words += self.over_ceiling()
        for other in self.feasible:
            twin = next((kept for kept in self.distinct if kept is not other and same_plan(kept, other)), None)
            if twin is not None and other not in self.distinct:
                words.append(t("reason.same_as", way=way_name(twin), next=way_name(other)))
            elif other is not way:
                words.append(self._against(way, other))
        for other in self.strategies:
            if not other["feasible"]:
                first, *more = self.problem_words(other)
                why = " ".join([first, *(f"{reason[:1].upper()}{reason[1:]}" for reason in more)])
                words.append(t("alternative.impossible", way=way_name(other), why=_marked(why)))
        return list(dict.fromkeys(words))

    def over_ceiling(self) -> list[str]:
        """Which quarter of the recommended way takes most beyond the ceiling on cash, where one does."""
        if self.recommended is None:
            return []
        mine = render(f"strategy_{self.recommended['id']}")
        over = [
            warning["params"]
            for warning in self.report.get("warnings", ())
            if warning["code"].startswith("quarter_above_ceiling") and warning["params"]["way"] == mine
        ]
        if not over:
            return []
        most = max(over, key=lambda params: float(params["paid_usd"]))
        return [
            t(
                "why.ceiling.one" if len(over) == 1 else "why.ceiling.many",
                count=len(over),
                quarter=most["quarter"],
                paid=formatting.money(most["paid_usd"], self.currency, fine=True),
                ceiling=formatting.money(most["ceiling_usd"], self.currency, fine=True),
            )
        ]

    def named(self, text: str) -> str:
        """A sentence of the planner with the offers of the catalog by their names."""
        ids = {word for word in re.findall(r"[\w-]+", text) if word in self.catalog.offers}
        for id in sorted(ids, key=len, reverse=True):
            text = re.sub(rf"'?(?<![\w-]){re.escape(id)}(?![\w-])'?", self.offer_words(id), text)
        return text

    def overlapping(self) -> str:
        """Names of the ways whose likely range reaches into that of the recommended one."""
        way = self.recommended
        if way is None:
            return ""
        others = [other for other in self.distinct if other is not way and _overlap(way, other)]
        return formatting.listed(way_name(other) for other in others)

    def _against(self, way: Row, other: Row) -> str:
        run = self.longest_run(other)
        key = "why.other_more" if other["tco_usd"] >= way["tco_usd"] else "why.other_less"
        return t(
            key,
            other=self.label(other),
            run=t("why.key_run" if self.is_key(run) else "why.long_run"),
            time=formatting.duration(run["time_to_train_h"]),
            amount=formatting.money(abs(other["tco_usd"] - way["tco_usd"]), self.currency),
        )

    def alternatives(self) -> list[str]:
        """What was not chosen, and why."""
        words = []
        for way in self.strategies:
            if way is self.recommended:
                continue
            name = way_name(way)
            if not way["feasible"]:
                words += [t("alternative.impossible", way=name, why=_marked(why)) for why in self.problem_words(way)]
                continue
            words.append(
                t(
                    "alternative.dearer",
                    way=self.label(way),
                    total=formatting.money(way["tco_usd"], self.currency, fine=True),
                    value=formatting.money(way["present_value_usd"], self.currency, fine=True),
                )
            )
        if self.recommended is not None:
            words += [
                self._next_offer(job)
                for job in self.recommended["jobs"]
                if job["rented"] and job["runner_up"] is not None
            ]
        return words or [t("alternative.none")]

    def _next_offer(self, job: Row) -> str:
        """The next cheapest offer for a job; one of the same name is told by its card."""
        offer = self.offer_words(job["runner_up"]["resource"])
        if offer == self.offer_words(job["resource"]):
            known = self.catalog.offers.get(job["runner_up"]["resource"])
            gpu = self.catalog.gpus.get(known.gpu) if known else None
            offer = offer if gpu is None else f"{offer} ({gpu.name})"
        cost, chosen = (
            formatting.price(usd, self.currency)
            for usd in (job["runner_up"]["marginal_cost_per_run_usd"], job["marginal_cost_per_run_usd"])
        )
        key = "alternative.offer_same" if cost == chosen else "alternative.offer"
        return t(key, job=escaped(job["id"]), offer=escaped(offer), cost=cost, chosen=chosen)


def _setting(field: str) -> str:
    """A setting of a job or machine, such as jobs.key.precision, with its name there; other fields as they stand."""
    part, _, rest = field.partition(".")
    job, _, setting = rest.partition(".")
    return t("impossible.setting", job=job, setting=setting) if part in ("jobs", "machines") and setting else field


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."


def way_name(way: Row) -> str:
    """ "Mix", "Own all" or "Rent all"."""
    return t(f"way.{way['kind']}")


def same_plan(one: Row, other: Row) -> bool:
    """Whether two ways come out as the same plan, to the cent."""
    return all(abs(one[key] - other[key]) < HALF_CENT_USD for key in ("tco_usd", "present_value_usd"))


def _dearer(way: Row, other: Row) -> bool:
    """Whether the recommended way costs more in total than another and is ahead only by when the money flows."""
    return bool(way["tco_usd"] > other["tco_usd"]) and gap(way["tco_usd"], other["tco_usd"]) >= NEAR_TIE_SHARE


def _overlap(one: Row, other: Row) -> bool:
    ends = [way[key] for way in (one, other) for key in ("tco_low_usd", "tco_high_usd")]
    return None not in ends and bool(
        one["tco_low_usd"] < other["tco_high_usd"] and other["tco_low_usd"] < one["tco_high_usd"]
    )


def gap(one: float, other: float) -> float:
    """Relative difference of two amounts."""
    return abs(one - other) / max(abs(one), abs(other), 1e-9)


def _marked(text: str) -> str:
    """Text safe in Markdown but for its dollar signs, which the page escapes with those of its own sentences."""
    return escaped(text).replace(r"\$", "$")
