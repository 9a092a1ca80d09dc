"""Names of resources in pins and quotas: a machine, an offer, a GPU with all that has it, or a provider."""

from __future__ import annotations

from dataclasses import dataclass

from planner.catalog.records import Catalog
from planner.errors import UnknownIdError
from planner.scenario.schema import Scenario
from planner.validation import near


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceNames:
    """What a name can mean, the first that has it."""

    machines: frozenset[str]
    offers: frozenset[str]
    gpus: frozenset[str]
    providers: frozenset[str]

    @classmethod
    def of(cls, scenario: Scenario, catalog: Catalog) -> ResourceNames:
        """Names of a scenario and a catalog; a quote without a provider is its own."""
        quotes = {own.provider or id for id, own in scenario.offers.items() if id not in catalog.offers}
        return cls(
            machines=frozenset(scenario.machines),
            offers=frozenset((*scenario.offers, *catalog.offers)),
            gpus=frozenset(catalog.gpus),
            providers=frozenset((*quotes, *catalog.providers)),
        )

    def check(self, name: str, field: str, *, machines: bool) -> None:
        """That a name means something.

        Raises
        ------
        UnknownIdError
            With the nearest names.
        """
        known = sorted((self.machines if machines else frozenset()) | self.offers | self.gpus | self.providers)
        if name not in known:
            kind = "machine, offer, GPU or provider" if machines else "offer, GPU or provider"
            raise UnknownIdError(kind, name, near(name, known), field=field)

    def covers(self, name: str, *, id: str, gpu: str, provider: str) -> bool:
        """Whether a name means a resource with this id, GPU and provider."""
        if name in self.machines or name in self.offers:
            return name == id
        return name == (gpu if name in self.gpus else provider)
