from planner.catalog.records import Catalog
from planner.performance.constants import Constants


def print_held_out(catalog: Catalog, constants: Constants) -> None: ...
