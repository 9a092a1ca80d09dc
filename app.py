"""Entry of the app: page setup, catalog, navigation."""

from pathlib import Path

import streamlit as st

from ui.i18n import t
from ui.loading import waiting

st.set_page_config(page_title=t("app.title"), page_icon=str(Path(__file__).with_name("ui") / "icon.png"), layout="wide")
_SHORT_TABLE = '[data-testid="stMarkdownContainer"]>table:not([class*="st-key-wide_"] *)'
# The only style rules. The dark control colour serves white text on it, not text in it. Columns stand below each other
# on a phone by themselves, and those of `frame.columns` on a tablet or a zoomed page too, before anything is cut.
# A wide table scrolls within itself. Words that say what a chart shows are there for those who can't see it.
st.html(
    "<style>"
    '[data-testid="stButtonGroup"] button[aria-checked="true"],'
    '[data-testid="stButtonGroup"] button[aria-pressed="true"],'
    '[data-testid="stSliderThumbValue"],'
    ':is([data-testid="stBaseButton-secondary"],[data-testid="stBaseButton-tertiary"],[data-testid="stPopoverButton"])'
    ":is(:hover,:active,:focus-visible){color:inherit !important}"
    '@media (max-width:960px){[class*="st-key-columns_"]>[data-testid="stLayoutWrapper"]'
    '>[data-testid="stHorizontalBlock"]>[data-testid="stColumn"]{min-width:calc(100% - 1.5rem)}}'
    '[class*="st-key-four"],[class*="st-key-pairs_"]{display:grid;align-items:start}'
    '[class*="st-key-four"]{grid-template-columns:repeat(4,minmax(0,1fr))}'
    '[class*="st-key-pairs_"]{grid-template-columns:repeat(2,minmax(0,1fr))}'
    '@media (max-width:960px){[class*="st-key-four"]{grid-template-columns:repeat(2,minmax(0,1fr))}}'
    '@media (max-width:640px){[class*="st-key-fours_"],[class*="st-key-pairs_"]{grid-template-columns:minmax(0,1fr)}}'
    '[data-testid="stElementContainer"]:has(.chart-words){position:absolute;width:16rem;clip-path:inset(50%);'
    "pointer-events:none}"
    '[data-testid="stElementToolbarButton"]:has([aria-label^="Show data"]){display:none}'  # rows of a chart are pixels
    '[data-testid="stMarkdownContainer"]:has(>table){overflow-x:auto}'
    '[data-testid="stMarkdownContainer"]>table :is(td,th){border-width:0 0 1px 0}'
    f"{_SHORT_TABLE}{{width:100%;margin:0 0 0.75rem 0;font-size:0.875rem}}"
    f"{_SHORT_TABLE} :is(td,th){{padding:0.3rem 0.4rem}}"
    f"{_SHORT_TABLE} th{{font-weight:400;opacity:0.75;border-top:0}}"
    f"{_SHORT_TABLE} tr:last-child td{{border-bottom:0}}"
    '[class*="st-key-wide_"] table{display:block;overflow-x:auto;width:100%}'
    "</style>"
)
with waiting():
    # The first visit after a start loads the planner itself: seconds in which the page would be blank.
    from planner.errors import CatalogError
    from ui import state
    from ui.formatting import escaped

    try:
        state.catalog()
    except CatalogError as error:
        problems = "\n".join(f"- {escaped(str(problem))}" for problem in error.problems)
        st.error(f"**{t('app.catalog_faulty')}**\n\n{problems}", icon=":material/error:")
        st.stop()
    state.start()

st.navigation(
    [
        st.Page("ui/pages/start.py", title=t("nav.start"), url_path="start"),
        st.Page("ui/pages/plan.py", title=t("nav.plan"), default=True),
        st.Page("ui/pages/work.py", title=t("nav.work"), url_path="work"),
        st.Page("ui/pages/whatif.py", title=t("nav.whatif"), url_path="what-if"),
        st.Page("ui/pages/timeline.py", title=t("nav.timeline"), url_path="timeline"),
        st.Page("ui/pages/catalog.py", title=t("nav.catalog"), url_path="catalog"),
        st.Page("ui/pages/accuracy.py", title=t("nav.accuracy"), url_path="accuracy"),
        st.Page("ui/pages/claims.py", title=t("nav.claims"), url_path="claims"),
    ],
    position="top",
).run()
state.keep_loaded_modules()
