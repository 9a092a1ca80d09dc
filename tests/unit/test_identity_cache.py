"""Results kept by identity: made once for the same objects, anew for equal ones, forgotten in order of use."""

from planner.identity_cache import IdentityCache


def counted(most: int = 2) -> tuple[IdentityCache[int], list[int]]:
    return IdentityCache(most=most), []


def ask(cache: IdentityCache[int], made: list[int], *arguments: object) -> int:
    def make() -> int:
        made.append(len(made))
        return made[-1]

    return cache.get(arguments, make)


def test_the_same_objects_are_worked_on_once_and_equal_ones_anew() -> None:
    cache, made = counted()
    one, equal = {"a": 1}, {"a": 1}
    assert [ask(cache, made, one), ask(cache, made, one), ask(cache, made, equal)] == [0, 0, 1]


def test_every_argument_counts() -> None:
    cache, made = counted(most=4)
    one, other = [1], [2]
    assert ask(cache, made, one, other) != ask(cache, made, other, one)


def test_what_was_used_longest_ago_is_forgotten() -> None:
    cache, made = counted(most=2)
    one, two, three = [1], [2], [3]
    for argument in (one, two, one, three):
        ask(cache, made, argument)
    assert ask(cache, made, one) == 0
    assert ask(cache, made, two) == 3


def test_an_object_that_is_gone_gives_no_other_its_result() -> None:
    cache, made = counted(most=1000)
    assert len({ask(cache, made, [number]) for number in range(500)}) == 500
