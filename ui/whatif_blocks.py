"""Blocks of the What-if page from top to bottom: answer, cards, suggestions, sliders with what they change."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from planner.report.levers import Lever, Suggestion, levers, suggested, suggestions, with_lever
from planner.report.why_not import other_ways
from ui import catalog_own, formatting, frame, progress_line, short_tables, state, whatif_rows, whatif_state
from ui.formatting import dollars, escaped
from ui.i18n import t
from ui.view import View, way_name
from ui.whatif_rows import Card, Line
from ui.whatif_state import PRESENT, Kept

_BADGE = {"hybrid": "green", "local": "blue", "cloud": "orange", "optimal": "violet"}
BEST_MIX = "whatif_best_mix"


def cards_of(scenarios: Sequence[Kept], *, best_mix: bool = False) -> list[Card]:
    """Scenarios with their plans, all in the currency of the first; with the best mix once that of all is known."""
    plans = [state.plan_with(scenario.document) for scenario in scenarios]
    if best_mix and all(plan is None or plan.with_best_mix.known for plan in plans):
        plans = [None if plan is None else plan.best_known for plan in plans]
    currency = next((frame.currency_of(plan.report) for plan in plans if plan is not None), formatting.USD)
    return [
        Card(
            kept=scenario,
            plan=plan,
            view=None if plan is None else View(plan.report, plan.document, state.catalog(), currency),
        )
        for scenario, plan in zip(scenarios, plans, strict=True)
    ]


def best_mix_asked() -> bool:
    """Whether cards are to have the best mix."""
    return bool(st.session_state.get(BEST_MIX, False))


def best_mix(cards: Sequence[Card]) -> None:
    """The switch for it, and the search of the first scenario whose best mix isn't known yet."""
    st.toggle(t("whatif.best.toggle"), key=BEST_MIX, help=t("whatif.best.toggle_help"), persist_state="session")
    if best_mix_asked():
        unknown = [card.plan for card in cards if card.plan is not None and not card.plan.with_best_mix.known]
        if unknown:
            progress_line.look("best_mix", unknown[0].with_best_mix)


def answer(cards: Sequence[Card]) -> None:
    """Title and sentence."""
    st.title(whatif_rows.title(cards), anchor=False)
    st.markdown(dollars(whatif_rows.sentence(cards)))


def note() -> None:
    """What became of the last action, where it needs saying."""
    said = whatif_state.take_note()
    if said is None:
        return
    problems = "".join(
        f"\n- {escaped(str(problem) if problem.found else problem.expected)}" for problem in said.problems
    )
    st.error(f"**{escaped(said.text)}**\n{problems}", icon=":material/error:")


def cards(found: Sequence[Card]) -> None:
    """The scenarios side by side, and what could be compared with them."""
    rows = whatif_rows.lines(found)
    if len(found) == 1:
        left, right = frame.columns("whatif_cards", [1, 2])
        with left:
            _card(found, 0, rows)
        with right, st.container(border=True, height="stretch", key="whatif_first"):
            st.markdown(f"### {t('whatif.first.title')}", anchors=False)
            st.markdown(t("whatif.first.about"))
            _suggestions(found[0])
            _add(found[0])
        return
    for index, place in enumerate(frame.columns("whatif_cards", len(found))):
        with place:
            _card(found, index, rows)
    with st.container(horizontal=True, vertical_alignment="center", key="whatif_more"):
        if whatif_state.has_room():
            _suggestions(found[0])
            _add(found[0])
        else:
            st.markdown(f":gray[{t('whatif.full', most=formatting.number_word(whatif_state.MOST).capitalize())}]")


def _card(found: Sequence[Card], index: int, rows: Sequence[Line]) -> None:
    card = found[index]
    id = card.kept.id
    with st.container(border=True, height="stretch", key=f"whatif_card_{id}"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", wrap=False):
            st.markdown(f"**{escaped(card.kept.name)}** {_badge(card)}")
            _actions(card, pinned=index == 0)
        if card.view is None or card.way is None:
            st.metric(t("whatif.total"), t("whatif.no_way"), whatif_rows.difference(card, found[0]), **_PLAIN)
        else:
            st.metric(
                t("figure.total", months=card.view.report["horizon_months"]),
                formatting.money(card.way["tco_usd"], card.view.currency),
                whatif_rows.difference(card, found[0]),
                **_PLAIN,
            )
        st.markdown("  \n".join(row.markdown(index) for row in rows))


_PLAIN = {"delta_color": "off", "delta_arrow": "off"}


def _badge(card: Card) -> str:
    if card.way is None:
        return f":red-badge[:material/error: {t('answer.none')}]"
    return f":{_BADGE[card.way['kind']]}-badge[{way_name(card.way)}]"


def _actions(card: Card, *, pinned: bool) -> None:
    """Pin, and a menu of what can be done with a scenario."""
    id, name = card.kept.id, card.kept.name
    label, help = (":material/keep:", "whatif.actions_pinned") if pinned else (":material/more_vert:", "whatif.actions")
    menu = st.popover(label, help=t(help, name=name), key=f"whatif_menu_{id}", type="tertiary", on_change="rerun")
    if not menu.open:
        return
    with menu:
        if pinned:
            st.markdown(f":gray[{t('whatif.pinned')}]")
        else:
            st.button(
                t("whatif.pin"),
                key=f"whatif_pin_{id}",
                on_click=whatif_state.set_baseline,
                args=(id,),
                icon=":material/keep:",
                type="tertiary",
            )
        if id == PRESENT:
            frame.next_page("plan.py", t("whatif.to_plan"))
        elif st.button(
            t("whatif.open"),
            key=f"whatif_open_{id}",
            on_click=whatif_state.open_in_plan,
            args=(id,),
            icon=":material/open_in_new:",
            type="tertiary",
            help=t("whatif.open_help"),
        ):
            st.switch_page(frame.PAGES / "plan.py")
        st.download_button(
            t("whatif.export"),
            partial(state.scenario_yaml, {**card.kept.document, "name": name}),
            file_name=f"{frame.file_stem(name)}.yaml",
            mime="application/yaml",
            key=f"whatif_export_{id}",
            on_click="ignore",
            icon=":material/download:",
            type="tertiary",
        )
        if id != PRESENT:
            st.text_input(
                t("whatif.name"),
                value=name,
                key=f"whatif_name_{id}",
                on_change=whatif_state.rename,
                args=(id, f"whatif_name_{id}"),
            )
            st.button(
                t("whatif.remove"),
                key=f"whatif_remove_{id}",
                on_click=whatif_state.remove,
                args=(id,),
                icon=":material/close:",
                type="tertiary",
            )


def _suggestions(baseline: Card) -> None:
    """The usual questions as buttons, those not yet on a card."""
    if baseline.plan is None:
        return
    catalog, document = catalog_own.catalog(), baseline.plan.document
    found = levers(document, baseline.plan.result)
    shown = {one.name for one in whatif_state.kept()}
    with st.container(horizontal=True, key="whatif_suggestions", width="content"):
        for id in suggestions(document, found, catalog):
            name = t(f"whatif.suggestion.{id}")
            if name not in shown:
                st.button(
                    name,
                    key=f"whatif_suggest_{id}",
                    on_click=_keep_suggested,
                    args=(id, baseline, found, name),
                    icon=":material/add:",
                )


def _keep_suggested(id: Suggestion, baseline: Card, found: Sequence[Lever], name: str) -> None:
    assert baseline.plan is not None
    whatif_state.keep(suggested(id, baseline.plan.document, found, state.catalog()), name)


def _add(baseline: Card) -> None:
    """Other ways to a scenario: the present inputs as they are now, or a file."""
    menu = st.popover(t("whatif.add"), icon=":material/add:", key="whatif_add", on_change="rerun", type="tertiary")
    if not menu.open:
        return
    with menu:
        st.button(
            t("whatif.keep_present"),
            key="whatif_keep_present",
            on_click=_keep_present,
            icon=":material/content_copy:",
            help=t("whatif.keep_present_help"),
        )
        key = whatif_state.files_key()
        st.file_uploader(
            t("frame.open.file"),
            type=["yaml", "yml"],
            accept_multiple_files=True,
            key=key,
            on_change=whatif_state.open_files,
            args=(key,),
            help=t("frame.open.file_help"),
        )


def _keep_present() -> None:
    present = whatif_state.present()
    whatif_state.keep(present.document, t("whatif.copy", name=present.name))


def try_it(baseline: Card, shown: int) -> None:
    """Sliders of the inputs that matter, and what comes out with them, beside what it was; as a fragment.

    `shown` is the number of cards, which stand outside of it.
    """
    if len(whatif_state.scenarios()) != shown:
        st.rerun()
    if baseline.plan is None or baseline.view is None:
        return
    view, document = baseline.view, baseline.plan.document
    found = whatif_rows.four_levers(levers(document, baseline.plan.result), baseline.plan.report)
    if not found:
        return
    moved, changed = whatif_state.tried(), dict(document)
    for lever in found:
        changed = with_lever(changed, lever, moved.get(lever.id, lever.value))
    st.space("small")
    left, right = frame.columns("whatif_try", [1, 1.65], gap="large")
    with left:
        st.markdown(f"### {t('whatif.try.title')}", anchors=False)
        for lever in found:
            _slider(lever, view, moved.get(lever.id, lever.value))
        moves = {lever.id for lever in found if moved.get(lever.id, lever.value) != lever.value}
        _buttons(baseline, found, changed, moved=bool(moves))
    (trial,) = cards_of([Kept(id="tried", name="", document=changed)])
    with right:
        _outcome(baseline, trial, moved=bool(moves))


def _slider(lever: Lever, view: View, value: float) -> None:
    unit = whatif_rows.lever_unit(lever, view)
    scale = lever.scale(unit)
    key = whatif_state.slider_key(lever.id)
    shown = min(max(value / unit, scale.low), scale.high)
    st.slider(
        whatif_rows.lever_label(lever, view),
        scale.low,
        scale.high,
        shown,
        scale.step,
        format=whatif_rows.slider_format(lever, scale.step),
        key=key,
        on_change=whatif_state.move,
        args=(lever.id, key, unit),
    )


def _buttons(baseline: Card, found: Sequence[Lever], changed: dict[str, object], *, moved: bool) -> None:
    with st.container(horizontal=True):
        name = whatif_rows.tried_name(found, whatif_state.tried(), baseline)
        st.button(
            t("whatif.try.keep"),
            key="whatif_keep",
            on_click=whatif_state.keep,
            args=(changed, name),
            icon=":material/bookmark_add:",
            disabled=not moved or not whatif_state.has_room(),
        )
        st.button(
            t("whatif.try.back"), key="whatif_back", on_click=whatif_state.back, type="tertiary", disabled=not moved
        )


def _outcome(baseline: Card, trial: Card, *, moved: bool) -> None:
    """Total and way now and before, and every way with both totals."""
    st.markdown(f"### {dollars(whatif_rows.tried_heading(baseline, trial, moved=moved))}", anchors=False)
    rows = whatif_rows.tried_rows(baseline, trial)
    short_tables.show(rows)


def why_not(baseline: Card) -> None:
    """Folded: one page on the decision against another way of the baseline."""
    if baseline.plan is None or baseline.view is None or baseline.view.recommended is None:
        return
    report = baseline.plan.report
    ways = {way["id"]: way for way in report["strategies"]}
    others = [id for id in other_ways(report) if any(way["id"] == id for way in baseline.view.others)]
    folded = st.expander(t("whatif.why_not.title"), key="whatif_why_not", on_change="rerun")
    if not folded.open or not others:
        return
    with folded:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            other = st.segmented_control(
                t("whatif.why_not.against"),
                others,
                default=others[0],
                format_func=lambda id: way_name(ways[id]),
                key=f"whatif_against_{'_'.join(others)}",
                required=True,
            )
            text = baseline.view.named(baseline.plan.why_not(str(other)))
            st.download_button(
                t("whatif.why_not.download"),
                text,
                file_name=f"{frame.file_stem(baseline.kept.name)}-why-not-{other}.md",
                mime="text/markdown",
                key="whatif_why_not_file",
                on_click="ignore",
                icon=":material/download:",
            )
        with st.container(key="wide_whatif_why_not"):
            st.markdown(whatif_rows.shown_page(text))


def foot(cards: Sequence[Card]) -> None:
    """What "likely" means, and how old the catalog is."""
    for card in cards[:1]:
        if card.view is not None:
            date = formatting.date(card.view.report["catalog_as_of"])
            st.markdown(f":small[:gray[{t('foot', date=date)}]]")
