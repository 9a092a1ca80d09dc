"""What the Work page shows of a plan: the work of a month, and of one job the places worth comparing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from planner.performance.memory_parts import Part
from planner.report.job_places import JobPlace
from ui.view import Row, View

MOST_MACHINES, MOST_OFFERS, MOST_RULED_OUT = 4, 4, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """Work of a mean month in a way."""

    runs: float
    attempts: float
    own_gpu_h: float
    rented_gpu_h: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CardMemory:
    """Memory of one GPU of a run, by part, of those places that are alike in it; sizes in GB."""

    gpu: str
    gpus: int
    parts_gb: Mapping[Part, float]
    used_gb: float
    whole_gb: float

    @property
    def fits(self) -> bool:
        """Whether the run stays within what a program can use."""
        return self.used_gb <= self.whole_gb


def month_of(view: View, way: Row) -> Month:
    """Work of a mean month, attempts that fail included in the GPU-hours."""
    months = view.report["horizon_months"]
    per_run = {job["id"]: view.figures.get(f"jobs.{job['id']}.attempts_per_run", 1.0) for job in way["jobs"]}
    return Month(
        runs=sum(job["runs"] for job in way["jobs"]) / months,
        attempts=sum(job["runs"] * per_run[job["id"]] for job in way["jobs"]) / months,
        own_gpu_h=sum(job["gpu_hours"] for job in way["jobs"] if not job["rented"]) / months,
        rented_gpu_h=sum(job["gpu_hours"] for job in way["jobs"] if job["rented"]) / months,
    )


def busy_machines(way: Row) -> list[Row]:
    """Owned machines with work, the fullest first."""
    return sorted((one for one in way["machines"] if one["utilisation"] > 0), key=lambda one: -one["utilisation"])


def shown(places: Sequence[JobPlace], way: str | None) -> list[JobPlace]:
    """Places worth comparing: machines, what the way uses, the cheapest offer of each GPU, and some ruled out.

    Parameters
    ----------
    places : sequence of JobPlace
        All places of a job.
    way : str or None
        Kind of the recommended way.
    """
    owned = [place for place in places if not place.rented][:MOST_MACHINES]
    offers = sorted(
        (place for place in places if place.rented),
        key=lambda one: (way not in one.ways, one.marginal_usd if one.marginal_usd is not None else 0.0, one.resource),
    )
    kept, seen = list(owned), set[tuple[str, int]]()
    for possible, most in ((True, MOST_OFFERS), (False, MOST_RULED_OUT)):
        of_each = [place for place in offers if place.on_time is possible]
        if not possible:  # late before impossible, the nearest to fitting first
            of_each.sort(key=lambda one: (not one.runs, _shortage(one)))
        number = 0
        for place in of_each:
            if (place.gpu, place.gpus) in seen or number == most:
                continue
            seen.add((place.gpu, place.gpus))
            kept.append(place)
            number += 1
    return kept


def _shortage(place: JobPlace) -> float:
    if place.done_h is not None:
        return place.done_h
    return (place.memory_gb or 0.0) / (place.capacity_gb or 1.0)


def used_by(places: Sequence[JobPlace], way: str | None) -> JobPlace | None:
    """Where a way runs a job: on own machines, if on those too."""
    return next((place for place in places if way is not None and way in place.ways), None)


def cards(places: Sequence[JobPlace]) -> list[CardMemory]:
    """Memory on each kind of card, places that are alike in it once; nothing of those with an own rate."""
    found: dict[tuple[object, ...], CardMemory] = {}
    for place in places:
        if not place.memory_parts_gb or place.memory_gb is None or place.capacity_gb is None:
            continue
        key = (place.gpu, place.gpus, round(place.memory_gb, 6))
        found.setdefault(
            key,
            CardMemory(
                gpu=place.gpu,
                gpus=place.gpus,
                parts_gb=place.memory_parts_gb,
                used_gb=place.memory_gb,
                whole_gb=place.capacity_gb,
            ),
        )
    return list(found.values())
