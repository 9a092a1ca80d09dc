"""Cost of a run where jobs share lines."""

from __future__ import annotations

import pytest

from tests import planning


def test_egress_is_shared_by_the_gigabytes_that_leave_the_provider() -> None:
    """Both jobs send 100 GB a run; of the second only every tenth run is rented."""
    job = planning.small_plan()["jobs"]["work"] | {"egress_gb_per_run": 100}
    plan = planning.small_plan(
        {"jobs.work.egress_gb_per_run": 100, "rental.egress_usd_per_gb": 0.1, "jobs.work.class": "key"}
    )
    plan["jobs"]["second"] = job | {"local_share": 0.9}
    hybrid = planning.strategy(planning.solve(plan), "hybrid")
    egress = next(
        planning.amounts(hybrid.evaluation)[id] for id in planning.by_id(hybrid.evaluation) if id.startswith("egress")
    )  # type: ignore[arg-type]
    rented = {result.job: result for result in hybrid.jobs if result.resource == "rented"}
    assert egress == pytest.approx(12 * (100 + 10) * 100 * 0.1)
    sent = {name: result.cost.amortised_usd - 2.0 for name, result in rented.items()}  # without the hour of rental
    assert sent["work"] == pytest.approx(10.0)
    assert sent["second"] == pytest.approx(10.0)
