"""Recommendation document -> what the Start page says, in the budget's currency, without Streamlit."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from planner.catalog.records import Catalog
from planner.units import H_PER_MONTH
from ui import formatting, frame
from ui.formatting import EN_DASH, NBSP, escaped
from ui.i18n import t
from ui.names import short_gpu

Row = Mapping[str, Any]

WHY_LINES = 3
_COUNT = re.compile(r"\b(\d+)x (?=\S)")
_CAUTIONS = (
    "recommend_used",
    "recommend_old_price",
    "recommend_airflow",
    "recommend_geforce_licence",
    "recommend_marketplace",
    "recommend_over_budget",
)
_ELSEWHERE = ("recommend_total_build", "recommend_total_rent", "recommend_billed")  # said by the card's other lines
_IN_FIGURES = ("recommend_run", "recommend_serves")  # what the figures of the card say already


class StartView:
    """One recommendation with the names that its ids stand for."""

    def __init__(self, document: Row, catalog: Catalog) -> None:
        self.document = document
        self.catalog = catalog
        self.currency = frame.currency_of(dict(document))
        self.options: Mapping[str, Row] = document["options"]
        self.pick: Row | None = self.option(document["pick"])

    def option(self, id: str | None) -> Row | None:
        """An option by its id."""
        return None if id is None else self.options[id]

    @property
    def months(self) -> int:
        """Months of work that were asked."""
        return int(self.document["work"]["months"])

    @property
    def local(self) -> bool:
        """Whether amounts are shown in another currency than USD."""
        return self.currency.code != "USD"

    def grey_line(self) -> str:
        """What all prices have in common."""
        words = t("start.line", date=formatting.date(self.document["catalog_as_of"]))
        rate = self.document["currency"]
        if self.local:
            words += frame.rate_words(rate)
        return words

    def money(self, amount_usd: float | None, *, estimate: bool = False) -> str:
        """An amount in the budget's currency; under an estimated rate every amount is an estimate."""
        rough = estimate or (self.local and self.document["currency"]["estimate"])
        return formatting.price(amount_usd, self.currency, estimate=rough)

    def sum(self, amount_usd: float | None) -> str:
        """An amount over months in the budget's currency: always an estimate."""
        if amount_usd is not None and abs(self.currency.of(amount_usd)) >= 1e6:
            return formatting.money(amount_usd, self.currency, fine=True)
        return formatting.price(amount_usd, self.currency, estimate=True)

    def work(self) -> str:
        """What was planned for, as the engine says it."""
        return sentence(self.document["work"]["message"])

    def short_name(self, option: Row) -> str:
        """What people would call an option: "a PC with one RTX 3060", "one V100 at Verda"."""
        gpus = formatting.number_word(option["gpus"])
        gpu = short_gpu(self.catalog.gpus[option["gpu"]].name)
        if option["kind"] == "rental":
            return t("start.name.rental", gpus=gpus, gpu=gpu, provider=option["provider_name"])
        if option["condition"] == "used":
            gpu = t("start.name.used", gpu=gpu)
        host = next((self.catalog.hosts[p["item"]] for p in option["parts"] if p["item"] in self.catalog.hosts), None)
        kind = "pc" if host is not None and host.gpu_slots == 1 else "machine"
        if option["count"] == 1:
            return t(f"start.name.{kind}", gpus=gpus, gpu=gpu)
        count = formatting.number_word(option["count"])
        return t(f"start.name.{kind}s", count=count, gpus=gpus, gpu=gpu)

    def heading(self, option: Row) -> str:
        """What to do, with its price."""
        key = "start.buy" if option["kind"] == "build" else "start.rent"
        return t(key, what=self.short_name(option), price=self.price(option))

    def price(self, option: Row) -> str:
        """Purchase price, or price of an hour, in the budget's currency."""
        estimate = option["estimated_share"] > 0
        if option["kind"] == "build":
            return self.money(option["price_usd"], estimate=estimate)
        return t("claims.per_hour", price=self.money(option["price_usd_per_h"], estimate=estimate))

    def both(self, amount_usd: float | None, *, estimate: bool = False) -> str:
        """An amount in the budget's currency and in USD."""
        words = self.money(amount_usd, estimate=estimate)
        usd = formatting.price(amount_usd, estimate=estimate)
        return t("start.both", amount=words, usd=usd) if self.local else words

    def small_price(self, option: Row, step: Row | None = None) -> str:
        """Both currencies of a small card, and the total: of what the budget buys, or of all that the work needs."""
        costs = step or option
        total, estimate = self.sum(costs["total_usd"]), option["estimated_share"] > 0
        if option["kind"] == "build":
            price = self.both(costs["price_usd"], estimate=estimate)
            return t("start.price_and_total", price=price, total=total, months=self.months)
        hour = t("claims.per_hour", price=self.both(option["price_usd_per_h"], estimate=estimate))
        return t("start.hour_and_total", hour=hour, total=total, months=self.months)

    def figures(self, option: Row) -> list[tuple[str, str, str]]:
        """Label, value and pill of the three figures of the card."""
        if option["kind"] == "build":
            low, high = option["price_low_usd"], option["price_high_usd"]
            pill = self._price_pill(option, low, high)
            price = (t("start.price"), self.price(option), pill)
        else:
            hour = option["price_usd_per_h"]
            pill = t("start.per_gpu_h", price=formatting.price(option["price_usd_per_gpu_h"]))
            price = (t("start.price_h"), self.money(hour, estimate=option["estimated_share"] > 0), pill)
        total = (
            t("start.total", months=self.months),
            formatting.money(option["total_usd"], self.currency, fine=True),
            self._total_pill(option),
        )
        return [price, total, self._speed(option)]

    def _price_pill(self, option: Row, low_usd: float, high_usd: float) -> str:
        estimate = option["estimated_share"] > 0
        parts = [formatting.price(option["price_usd"], estimate=estimate)] if self.local else []
        if low_usd < high_usd:
            low, high = (formatting.price(end, estimate=True) for end in (low_usd, high_usd))
            parts.append(t("figure.likely", range=f"{low}{EN_DASH}{high.removeprefix('$')}"))
        return ", ".join(parts) or t("start.no_spread")

    def _total_pill(self, option: Row) -> str:
        parts = [formatting.money(option["total_usd"], fine=True)] if self.local else []
        if option["total_estimated_share"] > 0:
            parts.append(t("start.share", share=formatting.share(option["total_estimated_share"])))
        return ", ".join(parts) or t("start.measured")

    def budget(self, option: Row) -> str:
        """What the budget is held against, in its parts."""
        words = {"total": f"**{self.sum(option['total_usd'])}**", "months": self.months}
        if option["kind"] == "build":
            parts = {"purchase": self.price(option), "running": self.sum(option["running_usd"])}
            added = t("start.sum_build", resale=self.sum(option["resale_usd"]), **parts, **words)
        else:
            added = t("start.sum_rental", **words)
        key = "start.within" if option["within_budget"] else "start.beyond"
        budget = self.document["budget"]
        return t(key, sum=added, budget=f"{formatting.trimmed(budget['amount'], 12)}{NBSP}{budget['currency']}")

    def over(self, option: Row) -> str:
        """By how much the total, or what is paid until the resale, exceeds the budget; empty where neither does."""
        if option["over_budget_usd"] > 0:
            over = self.sum(option["over_budget_usd"])
            return t("start.beyond_caution", over=over)
        if option["early_over_budget_usd"] > 0:
            return t("start.early", over=self.sum(option["early_over_budget_usd"]))
        return ""

    def billed(self, option: Row) -> str:
        """Why more hours are paid for than runs take; empty for builds and services."""
        found = [reason for reason in option["reasons"] if reason["code"] == "recommend_billed"]
        return sentence(found[0]["message"]) if found else ""

    def _speed(self, option: Row) -> tuple[str, str, str]:
        work = self.document["work"]
        if option["run_h"] is None:
            unit = t(f"unit.{option['speed_unit']}")
            speed = formatting.trimmed(option["speed"], 3)
            asked = t("start.asked", peak=formatting.trimmed(work["peak_per_s"], 3))
            return t("start.peak"), f"{speed}{NBSP}{unit}", asked
        run_h, low_h, high_h = option["run_h"], option["run_low_h"], option["run_high_h"]
        low, high = formatting.duration(low_h), formatting.duration(high_h)
        if low.partition(NBSP)[2] == high.partition(NBSP)[2]:
            low = low.partition(NBSP)[0]
        span = f"{low}{EN_DASH}{high}"
        span = t("figure.limit", span=span, limit=formatting.duration(work["deadline_h"]))
        return t("start.run"), formatting.duration(run_h), span

    def can(self, option: Row) -> str:
        """What an option can train."""
        return sentence(option["reasons"][0]["message"])

    def why(self, option: Row) -> list[str]:
        """Three lines: beside the other way to get it, then what the engine says first."""
        engine = [reason for reason in option["reasons"][1:] if reason["code"] not in (*_CAUTIONS, *_ELSEWHERE)]
        engine.sort(key=lambda reason: reason["code"] in _IN_FIGURES)  # stable: else as the engine orders them
        return [self._beside_other(), *(sentence(reason["message"]) for reason in engine)][:WHY_LINES]

    def cautions(self, option: Row) -> list[str]:
        """What speaks against an option."""
        own = [formatting.dollars(self.over(option))] if self.over(option) else []
        return own + [sentence(r["message"]) for r in option["reasons"] if r["code"] in _CAUTIONS]

    def _beside_other(self) -> str:
        """The answer of the engine in the budget's currency."""
        code, params = self.document["answer"]["code"], self.document["answer"]["params"]
        words = {"months": self.months, "total": self.sum(params["total"])}
        if params["other_total"] is None or code == "recommend_partly":
            key = "partly" if code == "recommend_partly" else "alone"
            return t(f"start.answer.{key}", **words)
        kind = "rental" if self.pick and self.pick["kind"] == "build" else "build"
        other = self.option(self.document[kind]["best"])
        assert other is not None  # its total is known
        words |= {
            "other": self.short_name(other),
            "other_total": self.sum(params["other_total"]),
            "at_once": self.sum(params.get("at_once")),
        }
        return t(f"start.answer.{code.removeprefix('recommend_')}", **words)

    def covered(self, option: Row) -> str:
        """How much of the work the budget pays for: months, or below one of them attempts, or hours of a service."""
        months, work = option["covered_months"], self.document["work"]
        if months >= 1 or months <= 0:
            return t("start.part_months", covered=formatting.trimmed(months, 3), months=self.months)
        if work["peak_per_s"] is not None:
            hours = formatting.trimmed(months * H_PER_MONTH, 3)
            return t("start.part_hours", covered=hours, all=formatting.plain(self.months * H_PER_MONTH))
        attempts = work["runs_per_month"] * work["attempts_per_run"]
        covered, whole = (formatting.plain(math.floor(n * attempts + 1e-9)) for n in (months, self.months))
        return t("start.part_attempts", covered=covered, all=whole)

    def other(self) -> Row | None:
        """The best of the other kind than the pick."""
        if self.pick is None:
            return None
        return self.option(self.document["rental" if self.pick["kind"] == "build" else "build"]["best"])

    def beside_pick(self, option: Row) -> str:
        """Speed of another option over the pick's, or its own run."""
        pick = self.pick
        if pick is None or not option["speed"] or not pick["speed"]:
            return ""
        ratio = option["speed"] / pick["speed"]
        if 0.95 <= ratio <= 1.05:
            return t("start.same_speed")
        if ratio > 1:
            return t("start.speed", ratio=formatting.trimmed(ratio, 2))
        if self.document["work"]["peak_per_s"] is not None:
            return t("start.slower_serving", share=formatting.percent(ratio))
        return t("start.slower", ratio=formatting.trimmed(1 / ratio, 2))

    def parts(self, option: Row) -> list[dict[str, str]]:
        """Price of a build part by part, or of a rental by hour, GPU-hour and budget."""
        return self._build_parts(option) if option["kind"] == "build" else self._rental_parts(option)

    def _build_parts(self, option: Row) -> list[dict[str, str]]:
        rows = [
            self._part(
                escaped(f"{part['count']} × {part['name']}" if part["count"] > 1 else part["name"]),
                part["amount_usd"],
                part["as_of"],
                estimate=part["estimate"],
            )
            for part in option["parts"]
        ]
        if len(rows) > 1:
            total = (f"**{t('start.sum')}**", option["price_usd"], option["as_of"])
            rows.append(self._part(*total, estimate=option["estimated_share"] > 0, marked=False))
        return rows

    def _rental_parts(self, option: Row) -> list[dict[str, str]]:
        estimate = option["estimated_share"] > 0
        of = option["as_of"]
        rows = [self._part(t("start.node_hour", gpus=option["gpus"]), option["price_usd_per_h"], of, estimate=estimate)]
        if option["gpus"] > 1:
            rows.append(self._part(t("start.gpu_hour"), option["price_usd_per_gpu_h"], of, estimate=estimate))
        hours = formatting.plain(option["rented_h_per_month"], 3)
        month = (t("start.month", hours=hours), option["running_usd_per_month"], of)
        rows.append(self._part(*month, estimate=True, marked=option["total_estimated_share"] > 0))
        return rows

    def _part(
        self, name: str, amount_usd: float, as_of: str | None, *, estimate: bool, marked: bool | None = None
    ) -> dict[str, str]:
        mark = f" :gray-badge[{t('word.estimate')}]" if (estimate if marked is None else marked) else ""
        local = self.currency.code
        if self.local and self.document["currency"]["estimate"]:
            local = t("start.in_currency", code=local)
        amounts = {
            local: self.money(amount_usd, estimate=estimate),
            "USD": formatting.price(amount_usd, estimate=estimate),
        }
        return {
            t("start.part"): f"{name}{mark}",
            **{code: formatting.dollars(amount) for code, amount in amounts.items()},
            t("start.price_of"): formatting.date(as_of),
        }

    def sources(self, option: Row) -> list[str]:
        """Where the prices of an option stand."""
        cited = option.get("sources") or [id for part in option["parts"] for id in part["sources"]]
        cited = [*cited, *self.document["currency"]["sources"]] if self.local else cited
        words = []
        for id in dict.fromkeys(cited):
            source = self.document["sources"][id]
            title = escaped(source["title"])
            words.append(f"[{title}]({source['url']})" if source["url"] else title)
        return words


def sentence(text: str) -> str:
    """A sentence of the engine as it stands on the page."""
    text = plain_name(text)
    return escaped(text[:1].upper() + text[1:] + ("" if text.endswith(".") else "."))


def plain_name(name: str) -> str:
    """ "2x GeForce RTX 3060" -> "2 × GeForce RTX 3060"."""
    return _COUNT.sub(rf"\1{NBSP}× ", name)
