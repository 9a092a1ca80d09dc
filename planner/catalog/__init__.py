"""What can be bought, rented, plugged in or trained."""

from planner.catalog.load import load_catalog
from planner.catalog.records import Catalog

__all__ = ["Catalog", "load_catalog"]
