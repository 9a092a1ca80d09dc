"""Blocks of the Start page: fields, the recommended card, cards beside it, what guides advise, examples."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from planner.advise.recommend.uses import USES, load_uses
from planner.catalog.records import Catalog
from ui import formatting, frame, short_tables, start_ask, start_tables, state
from ui.formatting import dollars, escaped
from ui.i18n import t
from ui.start_ask import KEY, Answer
from ui.start_view import StartView, plain_name, sentence

Row = Mapping[str, Any]

PLAN = frame.PAGES / "plan.py"


def fields(catalog: Catalog, problems: Mapping[str, str]) -> None:
    """Budget, use and model size in a row; the rest folded."""
    budget, use, size = frame.columns("fields", 3)
    with budget:
        _text("budget", problems, placeholder=start_ask.FIRST["budget"])
    with use:
        st.selectbox(
            t("start.use"),
            USES,
            format_func=lambda use: t(f"start.uses.{use}"),
            key=f"{KEY}use",
            persist_state="session",
        )
        _problem("use", problems)
    with size:
        _text("parameters", problems, placeholder=t("start.by_budget"))
    with st.expander(_folded_label(catalog), key=f"{KEY}more"):
        samples, site, months = frame.columns("more", 3)
        with samples:
            _text("samples", problems, placeholder=t("start.by_budget"))
        with site:
            st.selectbox(
                t("start.site"),
                [None, *sorted(catalog.sites, key=lambda id: catalog.sites[id].name)],
                format_func=lambda id: catalog.sites[id].name if id else t("start.by_currency"),
                key=f"{KEY}site",
                placeholder=t("start.by_currency"),
                persist_state="session",
            )
            _problem("site", problems)
        with months:
            _text("months", problems, placeholder=t("start.by_use"))


def _folded_label(catalog: Catalog) -> str:
    """Names of the folded fields with what was typed into them."""
    site = st.session_state[f"{KEY}site"]
    given = {
        "samples": start_ask.typed("samples"),
        "site": catalog.sites[site].name if site else "",
        "months": start_ask.typed("months"),
    }
    parts = [f"{t(f'start.{name}')} {escaped(value)}".strip() for name, value in given.items()]
    return " · ".join(parts)


def _text(name: str, problems: Mapping[str, str], *, placeholder: str) -> None:
    st.text_input(
        t(f"start.{name}"),
        key=KEY + name,
        help=t(f"start.{name}_help"),
        placeholder=placeholder,
        persist_state="session",
    )
    _problem(name, problems)


def _problem(name: str, problems: Mapping[str, str]) -> None:
    if name in problems:
        st.markdown(f":red[:material/error: {problems[name]}]")


def answered(answer: Answer, view: StartView) -> None:
    """The recommendation, greyed while the fields hold mistakes, with the cards beside it."""
    if answer.outdated:
        st.badge(t("answer.outdated"), icon=":material/history:", color="gray")
    st.markdown(f":gray[{view.work()}]")
    if view.pick is None:
        st.markdown(f"### {t('start.too_small')}", anchors=False)
        st.markdown(t("start.too_small_about"))
        _least(view)
        return
    _pick(view, view.pick, outdated=answer.outdated)
    if view.document["status"] != "ok":
        st.markdown(f"### {t('start.least')}", anchors=False)
        _least(view)
        st.markdown(f"### {t('start.beside')}", anchors=False)
    _steps(view)
    _guides(view)
    _details(view, view.pick)


def _pick(view: StartView, pick: Row, *, outdated: bool) -> None:
    left, right = frame.columns("pick", [1.65, 1], gap="large")
    with left, st.container(border=True, key="start_pick"):
        heading = dollars(view.heading(pick))
        st.markdown(f"## {f':gray[{heading}]' if outdated else heading}", anchors=False)
        st.markdown(f":gray[{escaped(plain_name(pick['name']))}]")
        if view.document["status"] == "partly":
            st.badge(
                t("start.partly", covered=view.covered(pick)),
                icon=":material/hourglass:",
                color="orange",
            )
        figures = st.container(horizontal=True, horizontal_alignment="distribute", gap="medium")
        for label, value, pill in view.figures(pick):
            figures.metric(label, value, pill, delta_color="off", delta_arrow="off", width="content")
        st.markdown(dollars(view.budget(pick)))
        st.markdown(f"**{t('start.can')}** {view.can(pick)}")
        st.markdown(f"**{t('start.why')}**\n\n" + "\n".join(f"- {dollars_once(line)}" for line in view.why(pick)))
        for caution in view.cautions(pick):
            st.markdown(f":material/warning: {caution}")
        with st.container(horizontal=True, vertical_alignment="center"):
            _open_button(pick, primary=True)
            if pick["estimated_share"] > 0:
                share = formatting.share(pick["estimated_share"])
                st.badge(t("start.price_estimated", share=share), icon=":material/query_stats:", color="gray")
            st.badge(t("start.of", date=formatting.date(pick["as_of"])), icon=":material/event:", color="gray")
            age = formatting.age(pick["as_of"], dt.date.today())
            if age:
                st.badge(age, icon=":material/history:", color="yellow")
    with right:
        st.markdown(f"### {t('start.parts.' + pick['kind'])}", anchors=False)
        short_tables.show(view.parts(pick))
        if view.billed(pick):
            st.markdown(f":small[:gray[{view.billed(pick)}]]")
        st.markdown("\n".join(f":small[:gray[{t('start.source')} {words}]]  " for words in view.sources(pick)))


def dollars_once(line: str) -> str:
    """Own sentences hold bare dollar signs, those of the engine escaped ones."""
    return line if r"\$" in line else dollars(line)


def _steps(view: StartView) -> None:
    """A step down, a step up, and the other way to get the work done."""
    pick = view.pick
    assert pick is not None
    cells = [
        ("down", view.document["step_down"]),
        ("up", view.document["step_up"]),
    ]
    down, up, other = frame.columns("steps", 3)
    for column, (name, step) in zip((down, up), cells, strict=True):
        option = view.option(step["id"]) if step else None
        note = ""
        if step and step["over_budget_usd"] > 0:
            note = t("start.over", amount=view.sum(step["over_budget_usd"]))
        elif option and option["covered_months"] < view.months:
            note = t("start.does", covered=view.covered(option))
        missing = t(f"start.no_step_{name}")
        with column:
            _card(view, t(f"start.step_{name}"), option, key=name, note=note, missing=missing, costs=step)
    with other:
        kind = "rental" if pick["kind"] == "build" else "build"
        instead = view.other()
        part = instead is not None and instead["covered_months"] < view.months
        _card(
            view,
            t(f"start.instead_{kind}"),
            instead,
            key="other",
            note=t("start.does", covered=view.covered(instead)) if instead is not None and part else "",
            missing=t(f"start.no_instead_{kind}"),
        )


def _least(view: StartView) -> None:
    """With a budget too small: the least to buy, to rent, and what costs an hour or nothing."""
    least = view.document["least"]
    build, rental, hour = frame.columns("least", 3)
    for column, name in ((build, "build"), (rental, "rental")):
        entry = least[name]
        with column:
            note = ""
            if entry and entry["missing_usd"] > 0:
                note = t("start.missing", amount=view.sum(entry["missing_usd"]))
            option = view.option(entry["id"]) if entry else None
            _card(
                view,
                t(f"start.least_{name}"),
                option,
                key=f"least_{name}",
                note=note,
                missing=t("start.no_least"),
                costs=entry,
            )
    with hour, st.container(border=True, key="start_free", height="stretch"):
        entry = least["hour"]
        st.markdown(f":small[:gray[{t('start.hourly_free')}]]")
        if entry:
            price = t("claims.per_hour", price=view.both(entry["price_usd"]))
            st.markdown(f"**{dollars(price)}**: {escaped(plain_name(entry['name']))}")
        for free in view.document["free"]:
            st.markdown(f"**{escaped(free['name'])}**: {sentence(free['note'])}")


def _card(
    view: StartView,
    label: str,
    option: Row | None,
    *,
    key: str,
    note: str,
    missing: str,
    costs: Row | None = None,
) -> None:
    with st.container(border=True, key=f"start_card_{key}", height="stretch"):
        st.markdown(f":small[:gray[{label}]]")
        if option is None:
            st.markdown(missing)
            return
        name = view.short_name(option)
        st.markdown(f"**{escaped(name[:1].upper() + name[1:])}**")
        price = view.small_price(option, costs)
        lines = [dollars(price), *([view.beside_pick(option)] if view.pick else []), dollars(note)]
        st.markdown("  \n".join(line for line in lines if line))
        _open_button(option, card=key)


def _open_button(option: Row, *, primary: bool = False, card: str = "pick") -> None:
    pressed = st.button(
        t("start.open"),
        key=f"start_open_{card}",
        icon=":material/arrow_forward:",
        type="primary" if primary else "secondary",
    )
    if pressed:
        state.open_text(state.scenario_yaml(option["scenario"]), f"{option['id']}.yaml")
        st.switch_page(PLAN)


def _guides(view: StartView) -> None:
    verdicts = view.document["guide_picks"]
    if verdicts:
        st.space("small")
        st.markdown(f"### {t('start.guides')}", anchors=False)
        st.markdown("\n".join(f"- {sentence(verdict['why'])}" for verdict in verdicts))


def _details(view: StartView, pick: Row) -> None:
    """Folded: everything within the budget, and what the answer leaves out."""
    for kind in ("builds", "rentals"):
        folded = st.expander(
            t(f"start.all_{kind}", count=len(view.document[kind])), key=f"start_all_{kind}", on_change="rerun"
        )
        if folded.open:
            with folded:
                start_tables.table(view, kind)
    with st.expander(t("start.notes"), key="start_notes"):
        st.markdown("\n".join(f"- {sentence(note['message'])}" for note in view.document["notes"]))


def examples() -> None:
    """Other questions that fill the fields, and example scenarios that open as plans."""
    st.space("small")
    left, right = frame.columns("questions", [1.65, 1], gap="large")
    with left:
        st.markdown(f"### {t('start.questions')}", anchors=False)
        links = st.container(gap=None)
        for guide in load_uses().guides:
            ask = guide.ask
            links.button(
                t("start.question", use=t(f"start.short.{ask.use}"), budget=ask.budget, size=_short(ask.parameters)),
                key=f"start_ask_{guide.id}",
                on_click=partial(
                    start_ask.fill,
                    budget=ask.budget,
                    use=ask.use,
                    parameters=_short(ask.parameters),
                    samples="" if ask.use == "serving" else _short(ask.samples),
                ),
                type="tertiary",
                icon=":material/help:",
            )
    with right:
        st.markdown(f"### {t('start.examples')}", anchors=False)
        links = st.container(gap=None)
        for id in state.example_ids():
            pressed = links.button(
                escaped(state.example_name(id)),
                key=f"start_example_{id}",
                type="tertiary",
                icon=":material/description:",
            )
            if pressed:
                state.open_example(id)
                st.switch_page(PLAN)


def _short(count: float) -> str:
    """A count as the fields take it: "100M"."""
    for factor, unit in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if count >= factor:
            return f"{count / factor:.10g}{unit}"
    return f"{count:.10g}"
