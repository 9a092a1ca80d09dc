"""Typed access to the keys of a config.json: what is there is checked, what is missing is filled in and noted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.errors import InputError
from planner.strict_yaml import describe

MOST = 1_000_000_000  # beyond it a size is a slip
MOST_LAYERS = 100_000


def _described(value: Any) -> str:
    if isinstance(value, int) and abs(value) > 10**40:  # Python won't write out numbers of thousands of digits
        return "a number of more than 40 digits"
    return describe(value)


class Keys:
    """The keys of one mapping, under the path where it stands.

    `family` fills in what the mapping lacks, as the transformers library does; a default that was used is kept in
    `filled`, to be told.
    """

    def __init__(
        self,
        data: Mapping[str, Any],
        *,
        path: str = "",
        family: Mapping[str, Any] | None = None,
        filled: dict[str, Any] | None = None,
    ) -> None:
        self.data = data
        self.path = path
        self.family = dict(family or {})
        self.filled: dict[str, Any] = {} if filled is None else filled

    def with_defaults(self, family: Mapping[str, Any]) -> Keys:
        """The same keys with the defaults of a family."""
        return Keys(self.data, path=self.path, family=family, filled=self.filled)

    def at(self, key: str) -> str:
        """Path of a key."""
        return f"{self.path}.{key}" if self.path else key

    def wrong(self, key: str, expected: str) -> InputError:
        """An error about the value of a key."""
        value = _described(self.data.get(key))
        return InputError("model_config_value", field=self.at(key), value=value, expected=expected)

    def refused(self, key: str, expected: str) -> InputError:
        """An error about a value that means something the planner doesn't understand."""
        value = _described(self.data.get(key))
        return InputError("model_config_unsupported", field=self.at(key), value=value, expected=expected)

    def given(self, *names: str) -> str | None:
        """The first of several spellings that is there with a value."""
        return next((name for name in names if self.data.get(name) is not None), None)

    def size(self, *names: str, default: int | None = None, low: int = 1, most: int = MOST) -> int:
        """A whole number under the first of its spellings, else the family's default, else `default`.

        Raises
        ------
        InputError
            Not a whole number within reason, or missing without a default.
        """
        name = self.given(*names)
        if name is not None:
            return self._whole(name, self.data[name], low, most)
        default_name = self._defaulted(*names)
        if default_name is not None:
            self.filled[self.at(default_name)] = self.family[default_name]
            return int(self.family[default_name])
        if default is None:
            raise self.wrong(names[0], f"a whole number from {low} to {most:,}")
        return default

    def maybe_size(self, *names: str, low: int = 1) -> int | None:
        """As `size`, but None where nothing is given and the family has no default."""
        if self.given(*names) is None and self._defaulted(*names) is None:
            return None
        return self.size(*names, low=low)

    def _defaulted(self, *names: str) -> str | None:
        """The spelling that the family has a default for; a null in the config takes it away."""
        if any(name in self.data for name in names):
            return None
        return next((name for name in names if name in self.family), None)

    def _whole(self, name: str, value: Any, low: int, most: int) -> int:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not low <= value <= most or value != int(value):
            raise self.wrong(name, f"a whole number from {low} to {most:,}")
        return int(value)

    def layers(self, *names: str, default: int | None = None) -> int:
        """A number of layers, as `size`."""
        return self.size(*names, default=default, most=MOST_LAYERS)

    def flag(self, *names: str, default: bool = False) -> bool:
        """True or false under the first of its spellings, else the family's default, else `default`."""
        name = self.given(*names)
        if name is None:
            answer = bool(self.family.get(names[0], default))
            if names[0] == "tie_word_embeddings":  # the one that moves a count by much
                self.filled[self.at(names[0])] = answer
            return answer
        value = self.data[name]
        if not isinstance(value, bool):
            raise self.wrong(name, "true or false")
        return value

    def word(self, name: str, default: str = "") -> str:
        """Text, else the family's default, else `default`."""
        value = self.data.get(name)
        if value is None:
            return str(self.family.get(name, default))
        if not isinstance(value, str):
            raise self.wrong(name, "text")
        return value

    def sizes(self, name: str) -> list[int]:
        """A list of whole numbers from 0; empty where it isn't given."""
        value = self.data.get(name)
        if value is None:
            return []
        if not isinstance(value, list | tuple):
            raise self.wrong(name, "a list of whole numbers")
        for entry in value:
            if isinstance(entry, bool) or not isinstance(entry, int) or entry < 0:
                raise self.wrong(name, "a list of whole numbers")
        return list(value)

    def part(self, name: str) -> Keys:
        """The mapping under a key; an empty one where it isn't given."""
        value = self.data.get(name)
        if value is None:
            value = {}
        if not isinstance(value, Mapping):
            raise self.wrong(name, "keys with values")
        return Keys(value, path=self.at(name), filled=self.filled)

    def labels(self, default: int = 2) -> int:
        """Outputs of a classifier."""
        names = self.data.get("id2label")
        if isinstance(names, Mapping) and names:
            return len(names)
        return self.size("num_labels", default=default)

    def dividing(self, width: int, heads: int, heads_key: str) -> int:
        """Width of a head where heads have to divide a width.

        Raises
        ------
        InputError
            When they don't.
        """
        if width % heads:
            name = self.given(heads_key) or heads_key
            expected = f"heads that divide the width of {width:,}"
            raise InputError("model_config_value", field=self.at(name), value=heads, expected=expected)
        return width // heads

    def grouped(self, heads: int, *names: str) -> int:
        """Heads of keys and values: given, by default, or as many as of queries.

        Raises
        ------
        InputError
            When they don't divide the heads of queries.
        """
        kv_heads = self.maybe_size(*names) or heads
        if heads % kv_heads:
            name = self.given(*names) or names[0]
            expected = f"a number that divides the {heads:,} attention heads"
            raise InputError("model_config_value", field=self.at(name), value=kv_heads, expected=expected)
        return kv_heads
