"""Claims about versions that go together: CUDA, cuDNN, drivers, and the cards that need them."""

from __future__ import annotations

from planner.advise.claims.data import Cuda, Cudnn
from planner.advise.claims.facts import Inquiry, MissingFigureError
from planner.advise.claims.records import Claim, Finding, Verdict

Version = tuple[int, ...]


def version(text: str) -> Version:
    """A version for comparing: "515.65.01" is (515, 65, 1).

    Examples
    --------
    >>> version("515.65.01") > version("515.48.07"), version("11.10") > version("11.6")
    (True, True)
    """
    return tuple(int(part) for part in text.split("."))


def library_supports(claim: Claim, inquiry: Inquiry) -> Finding:
    """Whether a least library release goes with a least toolkit, as a pair of floors says."""
    cuda, cudnn = str(claim.params["cuda"]), str(claim.params["cudnn"])
    last = inquiry.text(f"software.cudnn-{cudnn}")
    suited = [
        release
        for release in sorted(inquiry.facts.data.cudnn.values(), key=lambda release: version(release.version))
        if version(release.last_cuda) >= version(cuda)
    ]
    first: Cudnn | None = suited[0] if suited else None
    if first is not None:
        inquiry.text(f"software.cudnn-{first.version}")
    params = {"cuda": cuda, "cudnn": cudnn, "last_cuda": last, "first": None if first is None else first.version}
    if version(last) >= version(cuda):
        return Finding(verdict="holds", code="claim_library_suits", params=params)
    return Finding(verdict="does_not_hold", code="claim_library_too_old", params=params)


def driver_floor(claim: Claim, inquiry: Inquiry) -> Finding:
    """A least driver for a toolkit and all newer ones: against what each toolkit and each card needs.

    A floor is right where it is neither too low (a toolkit from there on, or a card, needs more) nor higher than
    needed. A toolkit needs the least driver of its major version; a card needs the first driver that knows it.
    """
    cuda, driver = str(claim.params["cuda"]), str(claim.params["driver"])
    matching = inquiry.text(f"software.cuda-{cuda}")
    major = cuda.partition(".")[0]
    compatible = inquiry.text(f"software.compatibility-{major}")
    toolkits = sorted(inquiry.facts.data.cuda.values(), key=lambda row: version(row.version))
    newest: Cuda = toolkits[-1]
    newest_floor = inquiry.text(f"software.compatibility-{newest.version.partition('.')[0]}")
    enough: list[str] = []
    too_old: list[str] = []
    for gpu in sorted(inquiry.facts.catalog.gpus.values(), key=lambda gpu: gpu.id):
        if gpu.spec.min_driver_linux is None or not gpu.spec.min_driver_linux.value[:1].isdigit():
            continue
        needs = inquiry.text(f"gpus.{gpu.id}.min_driver_linux")
        (enough if version(needs) <= version(driver) else too_old).append(gpu.name)
    if not enough and not too_old:
        raise MissingFigureError("gpus.a100-sxm4-80gb.min_driver_linux")
    params = {
        "cuda": cuda,
        "driver": driver,
        "matching": matching,
        "compatible": compatible,
        "major": major,
        "newest_cuda": newest.version,
        "newest_floor": newest_floor,
        "enough": len(enough),
        "too_old": len(too_old),
        "example": too_old[0] if too_old else None,
    }
    sufficient_for_all = not too_old and version(newest_floor) <= version(driver)
    verdict: Verdict = "does_not_hold"
    code = "claim_driver_too_low"
    if sufficient_for_all and driver in (matching, compatible):
        verdict, code = "holds", "claim_driver_right"
    elif version(driver) >= version(matching):
        verdict, code = "conditional", "claim_driver_some"
    elif version(driver) >= version(compatible):
        verdict, code = "conditional", "claim_driver_by_compatibility"
    return Finding(verdict=verdict, code=code, params=params)
