"""Recommendation document -> what the Start page says, in the budget's currency, without Streamlit."""

from __future__ import annotations

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
            words += t(
                "frame.line_rate",
                code=rate["code"],
                rate=formatting.trimmed(rate["usd_per_unit"], 4),
                date=formatting.date(rate["as_of"]),
            )
        return words

    def work(self) -> str:
        """What was planned for, as the engine says it."""
        return sentence(self.document["work"]["message"])

    def short_name(self, option: Row) -> str:
        """What people would call an option: "a PC with one RTX 3060", "one V100 at Verda"."""
        gpus = formatting.number_word(option["gpus"])
        gpu = short_gpu(self.catalog.gpus[option["gpu"]].name)
        if option["kind"] == "rental":
            provider = self.catalog.providers.get(option["provider"])
            where = provider.name if provider else option["provider"]
            return t("start.name.rental", gpus=gpus, gpu=gpu, provider=where)
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
        if option["kind"] == "build":
            return formatting.price(option["price_usd"], self.currency)
        return t("claims.per_hour", price=formatting.price(option["price_usd_per_h"], self.currency))

    def both(self, amount_usd: float | None) -> str:
        """An amount in the budget's currency and in USD."""
        words = formatting.price(amount_usd, self.currency)
        return t("start.both", amount=words, usd=formatting.price(amount_usd)) if self.local else words

    def small_price(self, option: Row) -> str:
        """Both currencies of a small card: the purchase, or the hour and the whole rent."""
        if option["kind"] == "build":
            return self.both(option["price_usd"])
        hour = t("claims.per_hour", price=self.both(option["price_usd_per_h"]))
        total = formatting.money(option["total_usd"], self.currency, fine=True)
        return t("start.hour_and_total", hour=hour, total=total, months=self.months)

    def figures(self, option: Row) -> list[tuple[str, str, str]]:
        """Label, value and pill of the three figures of the card."""
        if option["kind"] == "build":
            low, high = option["price_low_usd"], option["price_high_usd"]
            pill = self._price_pill(option["price_usd"], low, high)
            price = (t("start.price"), formatting.price(option["price_usd"], self.currency), pill)
        else:
            hour = option["price_usd_per_h"]
            pill = t("start.per_gpu_h", price=formatting.price(option["price_usd_per_gpu_h"]))
            price = (t("start.price_h"), formatting.price(hour, self.currency), pill)
        total = (
            t("start.total", months=self.months),
            formatting.money(option["total_usd"], self.currency, fine=True),
            self._total_pill(option),
        )
        return [price, total, self._speed(option)]

    def _price_pill(self, price_usd: float, low_usd: float, high_usd: float) -> str:
        parts = [formatting.price(price_usd)] if self.local else []
        if low_usd < high_usd:
            low, high = (formatting.price(round(end)) for end in (low_usd, high_usd))
            parts.append(t("figure.likely", range=f"{low}{EN_DASH}{high.removeprefix('$')}"))
        return ", ".join(parts) or t("start.no_spread")

    def _total_pill(self, option: Row) -> str:
        estimated = t("start.share", share=formatting.percent(option["total_estimated_share"]))
        if not self.local:
            return estimated
        return f"{formatting.money(option['total_usd'], fine=True)}, {estimated}"

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
        engine = [reason for reason in option["reasons"][1:] if reason["code"] not in _CAUTIONS]
        engine.sort(key=lambda reason: reason["code"] in _IN_FIGURES)  # stable: else as the engine orders them
        return [self._beside_other(), *(sentence(reason["message"]) for reason in engine)][:WHY_LINES]

    def cautions(self, option: Row) -> list[str]:
        """What speaks against an option."""
        return [sentence(r["message"]) for r in option["reasons"] if r["code"] in _CAUTIONS]

    def _beside_other(self) -> str:
        """The answer of the engine in the budget's currency."""
        code, params = self.document["answer"]["code"], self.document["answer"]["params"]
        words = {
            "months": self.months,
            "total": formatting.money(params["total"], self.currency, fine=True),
            "covered": self.covered(),
        }
        if params["other_total"] is None or code == "recommend_partly":
            key = "partly" if code == "recommend_partly" else "alone"
            return t(f"start.answer.{key}", **words)
        kind = "rental" if self.pick and self.pick["kind"] == "build" else "build"
        other = self.option(self.document[kind]["best"])
        assert other is not None  # its total is known
        words |= {
            "other": self.short_name(other),
            "other_total": formatting.money(params["other_total"], self.currency, fine=True),
            "at_once": formatting.money(params.get("at_once"), self.currency, fine=True),
        }
        return t(f"start.answer.{code.removeprefix('recommend_')}", **words)

    def covered(self) -> str:
        """How much of the work's time the budget pays for."""
        months = self.pick["covered_months"] if self.pick else 0.0
        return formatting.duration(months * H_PER_MONTH)

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
        return t("start.speed", ratio=formatting.trimmed(ratio, 2))

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
            rows.append(self._part(f"**{t('start.sum')}**", option["price_usd"], option["as_of"], estimate=False))
        return rows

    def _rental_parts(self, option: Row) -> list[dict[str, str]]:
        estimate = option["estimated_share"] > 0
        of = option["as_of"]
        rows = [self._part(t("start.node_hour", gpus=option["gpus"]), option["price_usd_per_h"], of, estimate=estimate)]
        if option["gpus"] > 1:
            rows.append(self._part(t("start.gpu_hour"), option["price_usd_per_gpu_h"], of, estimate=estimate))
        hours = formatting.plain(option["rented_h_per_month"], 3)
        rows.append(self._part(t("start.month", hours=hours), option["running_usd_per_month"], of, estimate=True))
        return rows

    def _part(self, name: str, amount_usd: float, as_of: str | None, *, estimate: bool) -> dict[str, str]:
        mark = f" :gray-badge[{t('word.estimate')}]" if estimate else ""
        amounts = {self.currency.code: formatting.price(amount_usd, self.currency), "USD": formatting.price(amount_usd)}
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

    def rows(self, kind: str) -> list[dict[str, str]]:
        """All builds or rentals within the budget, in recommended order."""
        found = []
        for id in self.document[kind]:
            option = self.options[id]
            found.append(
                {
                    t("start.option"): plain_name(option["name"]),
                    t("column.price"): self.price(option),
                    t("start.total", months=self.months): formatting.money(option["total_usd"], self.currency),
                    t("column.time"): formatting.duration(option["run_h"]),
                    t("start.covered"): formatting.trimmed(option["covered_months"], 3),
                    t("start.price_of"): formatting.date(option["as_of"]),
                    t("start.estimated"): formatting.percent(option["total_estimated_share"]),
                }
            )
        if self.document["work"]["peak_per_s"] is not None:
            for row in found:
                row.pop(t("column.time"))
        return found


def sentence(text: str) -> str:
    """A sentence of the engine as it stands on the page."""
    text = plain_name(text)
    return escaped(text[:1].upper() + text[1:] + ("" if text.endswith(".") else "."))


def plain_name(name: str) -> str:
    """ "2x GeForce RTX 3060" -> "2 × GeForce RTX 3060"."""
    return _COUNT.sub(rf"\1{NBSP}× ", name)
