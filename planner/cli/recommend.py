"""The command `recommend`: what to buy or rent for a budget."""

from __future__ import annotations

import argparse

from planner.advise.recommend.answer import recommend
from planner.advise.recommend.ask import Ask, parse_budget, parse_months, parse_size
from planner.advise.recommend.uses import USES
from planner.cli.arguments import Commands
from planner.cli.inputs import read_catalog
from planner.cli.output import json_text, print_text
from planner.errors import InputError
from planner.performance.evidence import load_evidence
from planner.report.recommendation import recommendation_document
from planner.report.recommendation_text import recommendation_text


def add_recommend(commands: Commands, common: argparse.ArgumentParser) -> None:
    """The command and its options."""
    advice = commands.add_parser("recommend", parents=[common], help="what to buy or rent for a budget")
    advice.add_argument("--budget", required=True, metavar="MONEY", help='amount and currency, such as "8000 CNY"')
    advice.add_argument("--use", required=True, choices=USES)
    advice.add_argument("--parameters", metavar="N", help="size of the model, such as 100M or 1.3B")
    advice.add_argument("--samples", metavar="N", help="size of the data set, such as 100k")
    advice.add_argument("--months", metavar="N", help="how long the work goes on, 1 to 84")
    advice.add_argument("--site", metavar="ID", help="where a machine would stand (default: by the currency)")
    advice.set_defaults(run=_recommend)


def _recommend(options: argparse.Namespace) -> None:
    ask = Ask(
        budget=parse_budget(options.budget),
        use=options.use,
        parameters=None if options.parameters is None else parse_size(options.parameters, field="--parameters"),
        samples=None if options.samples is None else parse_size(options.samples, field="--samples"),
        months=None if options.months is None else parse_months(options.months, field="--months"),
        site=options.site,
    )
    catalog = read_catalog(options)
    try:
        advice = recommend(ask, catalog, load_evidence(), today=options.today)
    except InputError as error:
        raise _as_typed(error, options) from None
    document = recommendation_document(advice)
    print_text(json_text(document) if options.json else recommendation_text(document))


def _as_typed(error: InputError, options: argparse.Namespace) -> InputError:
    """The error with the option's own text in the place of the number that was read from it."""
    typed = getattr(options, error.field.removeprefix("--"), None)
    return InputError(error.code, field=error.field, **error.params | ({} if typed is None else {"value": typed}))
