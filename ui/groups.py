"""The four groups of inputs of the Plan page and what their buttons say while they are closed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from planner.catalog.records import Catalog, Site
from planner.scenario.paths import get_value
from ui import formatting, groups_machine, groups_rental
from ui.formatting import USD, Currency
from ui.group_parts import Document, Group, Subject, assumed, figure_text, with_empty, word
from ui.groups_money import money
from ui.i18n import t
from ui.inputs import Choice, Field, Input
from ui.names import group_name, short_gpu, tariff_name
from ui.recipe_inputs import recipe_inputs

MOST_GROUPS = 3
"""Rows of groups of people that are there to be filled in."""


def groups(
    document: Document,
    catalog: Catalog,
    used: Mapping[str, float] | None = None,
    rented_gpus: Sequence[str] = (),
    currency: Currency = USD,
) -> list[Group]:
    """Work, Hardware, Site, Money for a scenario; `used` are the plan's figures, `rented_gpus` the names it rents."""
    return [
        _work(document, catalog),
        _hardware(document, catalog, used or {}, rented_gpus),
        _site(document, catalog, currency),
        money(document, catalog),
    ]


def _work(document: Document, catalog: Catalog) -> Group:
    main: list[Input] = []
    advanced: list[Input | None] = []
    for id, job in document["jobs"].items():
        here, names = f"jobs.{id}", {"job": id}
        main += [
            Field(path=f"{here}.runs_per_month", label=t("work.runs", **names), help=t("work.runs_help")),
            Field(
                path=f"{here}.deadline_h",
                label=t("work.deadline", **names),
                help=t("work.deadline_help"),
                default=t("work.no_deadline"),
            ),
        ]
        advanced += [
            Field(
                path=f"{here}.attempts_per_run",
                label=t("work.attempts", **names),
                help=t("work.attempts_help"),
                default=assumed(catalog, "attempts_per_run"),
            ),
            Field(
                path=f"{here}.local_share",
                label=t("work.local_share", **names),
                kind="percent",
                help=t("work.local_share_help"),
                default=t("work.by_class"),
            ),
        ]
        job = job if isinstance(job, Mapping) else {}
        workload = catalog.workloads.get(job.get("workload", ""))
        if workload is not None and workload.unit == "tokens":
            advanced += [
                Field(path=f"{here}.tokens", label=t("work.tokens", **names), default=figure_text(workload.tokens)),
                None,
            ]
        else:
            samples = figure_text(workload.samples) if workload else ""
            epochs = formatting.plain(workload.epochs) if workload and workload.epochs else ""
            advanced += [
                Field(path=f"{here}.samples", label=t("work.samples", **names), default=samples),
                Field(path=f"{here}.epochs", label=t("work.epochs", **names), default=epochs),
            ]
        advanced += recipe_inputs(id, job, workload)
    runs = " + ".join(word(get_value(document, f"jobs.{id}.runs_per_month"), 3) for id in document["jobs"])
    return Group(
        id="work",
        icon=":material/model_training:",
        summary=t("work.summary_one" if runs == "1" else "work.summary", runs=runs),
        main=main,
        advanced=advanced,
        more=[Subject(id="groups", make=lambda: _sharing(document))],
    )


def _sharing(document: Document) -> list[Input]:
    """Groups of people by name and size, and which of them each job belongs to."""
    given = document.get("groups")
    given = given if isinstance(given, Mapping) else {}
    cells: list[Input] = []
    for id in with_empty(given, "group", max(MOST_GROUPS, len(given) + 1)):
        cells += [
            Field(
                path=f"groups.{id}.name",
                label=t("work.group_name", group=id),
                kind="text",
                help=t("work.group_name_help"),
                default=id if id in given else t("work.no_group"),
            ),
            Field(
                path=f"groups.{id}.people",
                label=t("work.people", group=id),
                help=t("work.people_help"),
                default=t("work.no_people"),
            ),
        ]
    if given:
        cells += [
            Choice(
                path=f"jobs.{id}.group",
                label=t("work.group", job=id),
                options=[None, *map(str, given)],
                words=lambda group: group_name(given, group) if group else t("work.no_group"),
                help=t("work.group_help"),
            )
            for id in document["jobs"]
        ]
    return cells


def _hardware(document: Document, catalog: Catalog, used: Mapping[str, float], rented_gpus: Sequence[str]) -> Group:
    main: list[Input] = []
    advanced: list[Input] = []
    owned: list[str] = []
    machines = document.get("machines", {})
    for id, machine in machines.items():
        gpu = catalog.gpus.get(str(machine.get("gpu", "")))
        owned.append(short_gpu(gpu.name) if gpu else id)
        main += groups_machine.counted(id, machine, catalog, used)
        advanced += groups_machine.used_as(id, machine, catalog, used)
    main += groups_rental.pool()
    advanced += groups_rental.narrowed(document, catalog)
    return Group(
        id="hardware",
        icon=":material/memory:",
        summary=", ".join(dict.fromkeys([*owned, *rented_gpus])) or t("hardware.none"),
        main=main,
        advanced=advanced,
        more=[*groups_machine.subjects(machines, catalog, used), groups_rental.limits()],
    )


def _site(document: Document, catalog: Catalog, currency: Currency) -> Group:
    site = catalog.sites.get(str(get_value(document, "site.id") or ""))
    tariff = str(get_value(document, "site.tariff") or (site.default_tariff if site else ""))
    price = get_value(document, "site.electricity_usd_per_kwh")
    if price is None and site is not None and tariff in site.tariffs:
        price = site.tariffs[tariff].usd_per_kwh.value
    shown = formatting.price(price, currency) if isinstance(price, int | float) else word(price)
    name = site.name if site else t("site.none")
    main: list[Input] = [
        Choice(
            path="site.id",
            label=t("site.place"),
            options=list(catalog.sites),
            words=lambda id: catalog.sites[id].name if id in catalog.sites else id or t("site.none"),
        ),
        Choice(
            path="site.tariff",
            label=t("site.tariff"),
            options=[None, *(site.tariffs if site else ())],
            words=lambda id: tariff_name(id) if id else t("site.usual_tariff"),
            help=t("site.tariff_help"),
        ),
        Field(
            path="site.electricity_usd_per_kwh",
            label=t("site.electricity"),
            kind="money",
            help=t("hardware.price_help"),
            default=figure_text(site.tariffs[tariff].usd_per_kwh) if site and tariff in site.tariffs else "",
        ),
        Field(
            path="site.pue",
            label=t("site.pue"),
            help=t("site.pue_help"),
            default=figure_text(site.pue) if site else "",
        ),
    ]
    advanced: list[Input] = [
        Field(
            path="site.grid_kg_co2e_per_kwh",
            label=t("site.grid"),
            default=_grid(catalog, site),
        ),
        Field(
            path="site.space_usd_per_month",
            label=t("site.space"),
            kind="money",
            default=assumed(catalog, "space_usd_per_month"),
        ),
    ]
    return Group(
        id="site",
        icon=":material/bolt:",
        summary=t("site.summary", place=name, price=shown) if price is not None else name,
        main=main,
        advanced=advanced,
    )


def _grid(catalog: Catalog, site: Site | None) -> str:
    return figure_text(catalog.grids[site.grid].kg_co2e_per_kwh) if site and site.grid in catalog.grids else ""
