"""The commands `catalog check`, `catalog list` and `catalog diff`."""

from __future__ import annotations

import argparse

from planner.advise.claims import load_claim_data
from planner.advise.recommend.uses import load_uses
from planner.cli.arguments import Commands, path_of
from planner.cli.inputs import read_catalog
from planner.cli.output import json_text, print_text
from planner.errors import InputError
from planner.performance.evidence import load_evidence
from planner.performance.stacks import load_stacks
from planner.performance.time_to_target.targets import load_targets
from planner.performance.transfer.models import load_transfer
from planner.report.diff import diff_paths, diff_text
from planner.report.gpu_values import BASES
from planner.report.held_out import load_held_out
from planner.report.listing import KINDS, list_rows
from planner.report.text_table import rows_text

_TEXT_COLUMNS = {
    "gpus": (
        "id",
        "name",
        "memory_gb",
        "memory_bandwidth_gb_per_s",
        "bf16_dense_tflop_per_s",
        "tdp_w",
        "as_of",
        "price_usd",
        "usd_per_achieved_16_bit_tflop_per_s",
        "achieved_16_bit_tflop_per_s_per_w",
    ),
    "offers": (
        "id",
        "gpu_label",
        "gpu_count",
        "term",
        "market",
        "price_usd_per_h",
        "price_usd_per_gpu_h",
        "status",
        "as_of",
    ),
    "workloads": ("id", "name", "unit", "parameters", "precision"),
    "sites": ("id", "name", "electricity_usd_per_kwh", "tariff", "pue", "grid_kg_co2e_per_kwh", "as_of"),
}


def add_catalog(commands: Commands, common: argparse.ArgumentParser) -> None:
    """The commands and their options."""
    catalog = commands.add_parser("catalog", help="check, list or compare the facts")
    actions = catalog.add_subparsers(dest="action", required=True, metavar="ACTION")
    check = actions.add_parser("check", parents=[common], help="check all data files")
    check.add_argument(
        "folder", type=path_of, nargs="?", default=None, help="a folder of data files (default: those shipped)"
    )
    check.set_defaults(run=_check)
    listing = actions.add_parser("list", parents=[common], help="list records")
    listing.add_argument("kind", choices=KINDS)
    listing.add_argument("--price", choices=BASES, help="of gpus: the price that counts (default: new)")
    listing.set_defaults(run=_list)
    diff = actions.add_parser("diff", parents=[common], help="what changed between two data files or folders")
    diff.add_argument("old", type=path_of, metavar="OLD")
    diff.add_argument("new", type=path_of, metavar="NEW")
    diff.set_defaults(run=_diff)


def _check(options: argparse.Namespace) -> None:
    catalog = read_catalog(options, options.folder)
    if options.folder is None:  # what else is shipped must be in order too
        load_evidence()
        load_claim_data()
        load_uses()
        load_held_out()
        load_stacks()
        load_transfer()
        load_targets()
    counts = {
        "gpus": len(catalog.gpus),
        "partial_gpus": len(catalog.partial_gpus),
        "hosts": len(catalog.hosts),
        "systems": len(catalog.systems),
        "parts": len(catalog.parts),
        "offers": len(catalog.offers),
        "hardware": len(catalog.hardware),
        "providers": len(catalog.providers),
        "currencies": len(catalog.fx),
        "sites": len(catalog.sites),
        "grids": len(catalog.grids),
        "embodied": len(catalog.embodied),
        "assumptions": len(catalog.assumptions),
        "workloads": len(catalog.workloads),
        "sources": len(catalog.sources),
    }
    statuses = [offer.status(options.today) for offer in catalog.offers.values()]
    counts |= {f"offers_{status}": statuses.count(status) for status in ("current", "stale", "retired")}
    if options.json:
        print_text(json_text({"catalog_as_of": catalog.as_of, **counts}))
    else:
        numbers = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items())
        print_text(f"The catalog is in order: {numbers}. Newest figure: {catalog.as_of}.\n")


def _list(options: argparse.Namespace) -> None:
    if options.price is not None and options.kind != "gpus":
        expected = f"the kind gpus with --price, the price of a card, found {options.kind}"
        raise InputError("not_applicable", field="--price", value=options.price, expected=expected)
    rows = list_rows(read_catalog(options), options.kind, today=options.today, basis=options.price or "new")
    print_text(json_text(rows) if options.json else rows_text(rows, _TEXT_COLUMNS[options.kind]))


def _diff(options: argparse.Namespace) -> None:
    differences = diff_paths(options.old, options.new)
    print_text(json_text({"differences": differences}) if options.json else diff_text(differences))
