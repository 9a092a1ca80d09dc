"""How ids of sources begin that are no pages, but assumptions or measured rows."""

from __future__ import annotations

from typing import Final

ASSUMPTIONS: Final = "assumptions:"
MEASUREMENTS: Final = "measurements:"
