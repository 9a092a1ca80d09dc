"""The command `claims`: printed claims put to the test."""

from __future__ import annotations

import argparse

from planner.advise.claims import Facts, assess_claims, load_claim_data
from planner.cli.arguments import Commands
from planner.cli.inputs import read_catalog
from planner.cli.output import json_text, print_text
from planner.performance.evidence import load_evidence
from planner.report.claims import claims_document, claims_text


def add_claims(commands: Commands, common: argparse.ArgumentParser) -> None:
    """The command and its options."""
    claims = commands.add_parser("claims", parents=[common], help="put printed claims to the test")
    claims.set_defaults(run=_claims)


def _claims(options: argparse.Namespace) -> None:
    catalog, evidence, data = read_catalog(options), load_evidence(), load_claim_data()
    assessments = assess_claims(catalog, evidence, today=options.today, data=data)
    facts = Facts(catalog=catalog, evidence=evidence, data=data, today=options.today)
    document = claims_document(assessments, facts)
    print_text(json_text(document) if options.json else claims_text(document))
