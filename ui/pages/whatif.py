"""What-if: scenarios side by side, the inputs that matter as sliders, and what would turn the answer."""

from __future__ import annotations

import streamlit as st

from ui import deferred, frame, state, timeline_blocks, whatif_blocks, whatif_certainty, whatif_ranges, whatif_state
from ui.i18n import t

state.start()
deferred.begin()
outcome = state.outcome()
frame.top(outcome)
frame.refused_file()

if state.is_empty():
    st.title(t("whatif.title.alone"), anchor=False)
    st.markdown(t("whatif.empty"))
    frame.next_page("plan.py", t("timeline.to_plan"))
    st.stop()
if outcome.plan is None:
    timeline_blocks.broken(shown=False)
    st.stop()
if outcome.outdated:
    timeline_blocks.broken(shown=True)

named = whatif_blocks.cards_of(whatif_state.scenarios())
cards = whatif_blocks.cards_of(whatif_state.scenarios(), best_mix=True) if whatif_blocks.best_mix_asked() else named
whatif_blocks.answer(cards)
whatif_blocks.note()
whatif_blocks.cards(cards)
whatif_blocks.best_mix(named)
st.fragment(whatif_blocks.try_it)(named[0], len(cards))  # a slider redraws what it changes alone
whatif_certainty.show(cards[0])
whatif_ranges.show(cards, outdated=outcome.outdated)
whatif_blocks.why_not(cards[0])
whatif_blocks.foot(cards)
frame.next_page("plan.py", t("next.plan"))
frame.next_page("timeline.py", t("next.timeline"))
deferred.finish()
