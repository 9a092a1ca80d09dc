"""The assessed claims as the page shows them: computed once for each state of the data and day."""

from __future__ import annotations

import datetime as dt
from typing import Any

import streamlit as st

from planner.advise.claims import Facts, assess_claims, load_claim_data
from planner.advise.claims.data import ClaimData
from planner.catalog.records import Catalog
from planner.performance.evidence import Evidence, load_evidence
from planner.report.claims import claims_document
from ui import state

FILES = ("claims.yaml", "software.yaml")
"""Files that only claims read."""


@st.cache_resource(max_entries=2, show_spinner=False)
def _document(
    content: tuple[str, str, tuple[tuple[int, int], ...]],
    today: dt.date,
    _catalog: Catalog,
    _evidence: Evidence,
    _data: ClaimData,
) -> dict[str, Any]:
    found = assess_claims(_catalog, _evidence, today=today, data=_data)
    return claims_document(found, Facts(catalog=_catalog, evidence=_evidence, data=_data, today=today))


def document() -> dict[str, Any]:
    """The document of `python -m planner claims`.

    Raises
    ------
    CatalogError
        A file of claims is faulty.
    """
    catalog, evidence, data = state.catalog(), load_evidence(), load_claim_data()
    files = [(state.ROOT / "data" / name).stat() for name in FILES]
    stamp = tuple((file.st_mtime_ns, file.st_size) for file in files)
    return _document((catalog.content_hash, evidence.content_hash, stamp), dt.date.today(), catalog, evidence, data)
