"""What spot instances mean for the jobs of a plan, in words: interruptions, spread, and whether there are any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ui import formatting
from ui.formatting import dollars, escaped
from ui.i18n import t
from ui.view import View


def spot_lines(view: View) -> list[str]:
    """A line for each job on spot instances; ways share lines."""
    lines = [_line(view, job) for way in view.feasible for job in way["jobs"] if job["spot"] is not None]
    return list(dict.fromkeys(lines))


def _line(view: View, job: Mapping[str, Any]) -> str:
    spot = job["spot"]
    parts = [
        t(
            "details.spot_line",
            job=escaped(job["id"]),
            place=escaped(view.resource(job)),
            share=formatting.share(spot["interrupted_probability"]),
            lost=formatting.duration(spot["lost_h"]),
            waiting=formatting.duration(spot["waiting_h"]),
        ),
        dollars(
            t(
                "details.spot_spread",
                cost=_cost_words(view, spot, "cost"),
                time=_time_words(spot),
                count=formatting.plain(spot["month_attempts"]),
                month=_cost_words(view, spot, "month"),
            )
        ),
        t(
            "details.spot_capacity",
            share=formatting.share(spot["available_share"]),
            wait=formatting.duration(spot["capacity_wait_h"]),
        ),
    ]
    if spot["no_capacity_probability"] is not None:
        parts.append(
            t(
                "details.spot_late",
                none=formatting.share(spot["no_capacity_probability"]),
                late=formatting.share(spot["late_probability"]),
            )
        )
    return " ".join(parts)


def _cost_words(view: View, spot: Mapping[str, Any], what: str) -> str:
    """The range of 8 in 10, or one amount where its ends look alike."""
    low, high = (spot[f"{what}_{name}_usd"] for name in ("p10", "p90"))
    lowest, highest = (formatting.money(usd, view.currency) for usd in (low, high))
    return lowest if lowest == highest else formatting.money_range(low, high, view.currency)


def _time_words(spot: Mapping[str, Any]) -> str:
    lowest, highest = (formatting.duration(spot[f"time_{name}_h"]) for name in ("p10", "p90"))
    return lowest if lowest == highest else formatting.duration_range(spot["time_p10_h"], spot["time_p90_h"])
