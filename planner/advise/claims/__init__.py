"""Printed claims put to the test: verdicts computed from the catalog, the measurements and the estimator."""

from planner.advise.claims.assess import assess_claims
from planner.advise.claims.data import ClaimData, load_claim_data
from planner.advise.claims.facts import Facts
from planner.advise.claims.records import VERDICTS, Assessment, Claim, Verdict

__all__ = [
    "VERDICTS",
    "Assessment",
    "Claim",
    "ClaimData",
    "Facts",
    "Verdict",
    "assess_claims",
    "load_claim_data",
]
