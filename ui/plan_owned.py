"""What keeping, selling or upgrading the machines that are there already comes to."""

from __future__ import annotations

import streamlit as st

from ui import formatting, short_tables
from ui.formatting import escaped
from ui.i18n import t
from ui.view import Row, View


def show(view: View) -> None:
    """Folded, and only where a plan was asked for the cheapest."""
    options = view.report["owned_options"]
    if not options:
        return
    folded = st.expander(t("details.owned"), key="details_owned", on_change="rerun")
    if folded.open:
        with folded:
            chosen = next(option for option in options if option["chosen"])
            alike = all(_value(view, option) == _value(view, chosen) for option in options)
            st.markdown(t("owned.alike" if alike else "owned.chosen", what=escaped(words(chosen))))
            short_tables.show([_row(view, option) for option in options])
            st.markdown(f":small[:gray[{t('owned.note')}]]")


def words(option: Row) -> str:
    """Types of machines with what becomes of them."""
    return ", ".join(t(f"owned.{machine['at_start']}", machine=machine["id"]) for machine in option["machines"])


def _row(view: View, option: Row) -> dict[str, str]:
    best = option["recommended"]
    return {
        t("owned.option"): words(option),
        t("owned.way"): formatting.unknown() if best is None else t(f"way.{best}"),
        t("owned.total"): formatting.money(option["tco_usd"], view.currency, fine=True),
        t("ways.value"): _value(view, option),
    }


def _value(view: View, option: Row) -> str:
    return formatting.money(option["present_value_usd"], view.currency, fine=True)
