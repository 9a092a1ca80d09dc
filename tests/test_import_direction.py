"""Imports run one way, torch is loaded on demand only, and the engine knows nothing of the app."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# A room may use what stands to its left, never to its right; rooms in one group may use each other.
ORDER: tuple[tuple[str, ...], ...] = (
    (
        "planner",
        "planner.cells",
        "planner.errors",
        "planner.identity_cache",
        "planner.files",
        "planner.units",
        "planner.strict_yaml",
        "planner.messages",
        "planner.validation",
        "planner.yaml_scalars",
    ),
    ("planner.catalog",),
    ("planner.workload",),
    ("planner.measurements",),
    ("planner.validate",),
    ("planner.performance",),
    ("planner.scenario",),
    ("planner.energy",),
    ("planner.cost",),
    ("planner.strategy",),
    ("planner.advise",),
    ("planner.report",),
    ("planner.actual",),
    ("planner.measure",),
    ("planner.cli",),
    ("planner.__main__", "ui"),
    ("app",),
)
RANK = {room: rank for rank, rooms in enumerate(ORDER) for room in rooms}


def sources() -> list[Path]:
    return [
        *sorted((ROOT / "planner").rglob("*.py")),
        *sorted((ROOT / "ui").rglob("*.py")),
        *sorted(ROOT.glob("app.py")),
    ]


def module_of(path: Path) -> str:
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str | None:
    """Room of a module: the longest known name that it begins with; None for other packages."""
    parts = module.split(".")
    for end in range(len(parts), 0, -1):
        name = ".".join(parts[:end])
        if name in RANK:
            # "planner" is the room of the package itself alone: a new module beside it needs a place in the order.
            return name if name != "planner" or len(parts) == 1 else "unplaced"
    return None


def imports(tree: ast.AST, package: str) -> Iterator[tuple[str, int]]:
    """Modules that a syntax tree imports, also inside functions, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parts, base] if base else parts)
            for alias in node.names:
                full = f"{base}.{alias.name}"
                yield (
                    (
                        full
                        if (ROOT / Path(*full.split("."))).with_suffix(".py").exists()
                        or (ROOT / Path(*full.split("."))).is_dir()
                        else base
                    ),
                    node.lineno,
                )


def wrong_directions(path: Path, tree: ast.AST) -> list[str]:
    module = module_of(path)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    room = room_of(module)
    assert room in RANK, f"{module} has no place in the order of imports"
    found = []
    for target, line in imports(tree, package):
        other = room_of(target)
        if other == "unplaced" or (other is not None and RANK[other] > RANK[room]):
            found.append(f"{path.relative_to(ROOT)}:{line} imports {target}, which is to the right of {room}")
    return found


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_run_to_the_left(path: Path) -> None:
    assert wrong_directions(path, ast.parse(path.read_text())) == []


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_the_engine_does_not_know_the_app_and_torch_waits(path: Path) -> None:
    tree = ast.parse(path.read_text())
    package = module_of(path)
    if path.is_relative_to(ROOT / "planner"):
        names = {name.split(".")[0] for name, _ in imports(tree, package)}
        assert not names & {"streamlit", "ui", "app"}
    inside = {
        node
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        if node not in inside and isinstance(node, ast.Import | ast.ImportFrom):
            names = {alias.name for alias in node.names} if isinstance(node, ast.Import) else {node.module or ""}
            assert not {name.split(".")[0] for name in names} & {"torch"}, f"{path.name}:{node.lineno} loads torch"


@pytest.mark.parametrize(
    ("module", "text", "wrong"),
    [
        ("planner/catalog/x.py", "from planner.cost import lines", True),
        ("planner/catalog/x.py", "import planner.strategy.kernel", True),
        ("planner/catalog/x.py", "def f():\n    from planner.scenario import load", True),
        ("planner/catalog/x.py", "from ..report import tables", True),
        ("planner/catalog/x.py", "from planner.later import x", True),
        ("planner/errors.py", "from planner import catalog", True),
        ("planner/cost/x.py", "import ui.charts", True),
        ("planner/cost/x.py", "from planner.catalog.records import Gpu", False),
        ("planner/cost/x.py", "from . import lines", False),
        ("planner/catalog/x.py", "import numpy as np\nfrom planner import units", False),
        ("ui/x.py", "from planner.report import tables", False),
    ],
)
def test_the_rule_itself(module: str, text: str, wrong: bool) -> None:
    assert bool(wrong_directions(ROOT / module, ast.parse(text))) == wrong


def test_importing_the_engine_loads_neither_torch_nor_streamlit() -> None:
    code = (
        "import planner, planner.catalog, sys\n"
        "planner.catalog.load_catalog\n"
        "assert 'torch' not in sys.modules and 'streamlit' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
