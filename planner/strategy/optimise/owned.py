"""Variables and rows of a programme for shares of runs and for machines of one's own."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from planner.cost.course import Array
from planner.strategy.measures import COST, PAID
from planner.strategy.optimise.effects import MachineEffects
from planner.strategy.optimise.loads import SafeLoad
from planner.strategy.optimise.mix import Mix, billed_at, month_factor
from planner.strategy.parameters import Theta

FEW_RUNS = 12.0
"""Runs over the horizon below which those of a period stay together: a share of one can't be done anywhere."""


def add_shares(mix: Mix, theta: Theta, worth: list[Array]) -> None:
    """Shares of runs: those of each job and period add up to 1."""
    problem, found, programme = mix.problem, mix.found, mix.programme
    jobs = np.array([problem.pairs[index].job for index in found.pairs], dtype=np.int64)
    runs = [float(theta[0, job.runs_per_month_at]) * job.mean_factor * problem.horizon_months for job in problem.jobs]
    mix.share = np.full((len(found.pairs), len(mix.periods)), -1, dtype=np.int64)
    for at, period in enumerate(mix.periods):
        active = np.array([month_factor(problem, int(job), period) > 0 for job in jobs], dtype=bool)
        if not active.any():
            continue
        cost = found.share[active, COST] @ worth[at]
        whole = np.array([runs[job] < FEW_RUNS for job in jobs[active]])
        mix.share[active, at] = programme.add(cost, upper=1.0, whole=whole, period=at)
        mix.effects += [
            (np.array([place]), found.share[pair], at)
            for place, pair in zip(mix.share[active, at], np.flatnonzero(active), strict=True)
        ]
        for pair in np.flatnonzero(active).tolist():
            offer = problem.pairs[found.pairs[pair]].offer
            if offer is not None:
                place, rental = int(mix.share[pair, at]), found.rental[pair]
                mix.bill_instances(billed_at(problem, offer), at, place, rental)
                mix.bill_extras(problem.offers[offer].provider, at, place, found.share[pair, PAID] - rental)
        for job in np.unique(jobs[active]):
            places = mix.share[(jobs == job) & active, at]
            programme.row(places, np.ones(len(places)), 1.0, 1.0)


def add_machines(mix: Mix, loads: Mapping[int, SafeLoad]) -> None:
    """Numbers of machines, the room of each, and the space of all."""
    problem, found, programme = mix.problem, mix.found, mix.programme
    mix.bought, mix.number = [], []
    sites = _sites(mix)
    for at, machine in enumerate(found.machines):
        first, each = (float(effects[COST] @ found.discount) for effects in (machine.first, machine.each))
        bought = int(programme.add(np.array([first - machine.least * each]), upper=1.0, whole=True)[0])
        number = int(programme.add(np.array([each]), upper=machine.most, whole=True)[0])
        mix.bought.append(bought)
        mix.number.append(number)
        mix.effects.append((np.array([bought]), machine.first - machine.least * machine.each, None))
        mix.effects.append((np.array([number]), machine.each, None))
        programme.row([number, bought], [1.0, -float(machine.least)], 0.0, np.inf)
        programme.row([number, bought], [1.0, -float(machine.most)], -np.inf, 0.0)
        for site in sites[at]:
            programme.row([site, bought], [1.0, -1.0], 0.0, np.inf)
        mine = [place for place, index in enumerate(found.pairs) if problem.pairs[index].machine == at]
        least_load = loads[at].of(machine.least if _there_throughout(machine) else 0)
        fuller = _fuller(mix, machine, number, loads[at], least_load) if _there_throughout(machine) else {}
        for period_at, period in enumerate(mix.periods):
            known = [place for place in mine if mix.share[place, period_at] >= 0]
            if not known:
                continue
            month, bookable_h = period[0] - 1, machine.powered_h * least_load
            factors = [
                found.busy_h[place] * month_factor(problem, problem.pairs[found.pairs[place]].job, period) / bookable_h
                for place in known
            ]
            places = [int(mix.share[place, period_at]) for place in known]
            each_there = float(machine.each_there[month])
            always = float(machine.first_there[month]) - machine.least * each_there
            room = {bought: always, number: each_there, **fuller}
            programme.row([*places, *room], [*factors, *(-hours for hours in room.values())], -np.inf, 0.0)
            for place in known:
                share, nodes = int(mix.share[place, period_at]), problem.pairs[found.pairs[place]].nodes
                if nodes > machine.least:  # one run takes several machines
                    used = int(programme.add(np.zeros(1), upper=1.0, whole=True, period=period_at)[0])
                    programme.row([share, used], [1.0, -1.0], -np.inf, 0.0)
                    programme.row([number, used], [1.0, -float(nodes)], 0.0, np.inf)
                programme.row([share, bought], [1.0, -1.0], -np.inf, 0.0)


def _there_throughout(machine: MachineEffects) -> bool:
    return bool(np.all(machine.first_there == machine.least) and np.all(machine.each_there == 1.0))


def _fuller(mix: Mix, machine: MachineEffects, number: int, load: SafeLoad, least: float) -> dict[int, float]:
    """Machines that count for more since there are enough of them, with how much more, over the least load."""
    programme, found = mix.programme, {}
    for step in load.steps:
        if machine.least <= step < machine.most:
            enough = int(programme.add(np.zeros(1), upper=1.0, whole=True)[0])
            counted = int(programme.add(np.zeros(1), upper=machine.most)[0])
            programme.row([number, enough], [1.0, -(step + 1.0)], 0.0, np.inf)
            programme.row([counted, number], [1.0, -1.0], -np.inf, 0.0)
            programme.row([counted, enough], [1.0, -float(machine.most)], -np.inf, 0.0)
            found[counted] = (load.of(step + 1) - load.of(step)) / least
    return found


def _sites(mix: Mix) -> list[list[int]]:
    """By type of machine, the yes-or-no parts of space that it takes: each is of the months with the same types."""
    site = mix.found.site
    needed: list[list[int]] = [[] for _ in site]
    there = np.abs(site).sum(axis=1) > 0  # [types, times]
    for types in np.unique(there.T, axis=0):
        if types.any():
            effects = np.where(np.all(types == there.T, axis=1), site[types].max(axis=0), 0.0)
            place = mix.programme.add(np.array([effects[COST] @ mix.found.discount]), upper=1.0, whole=True)
            mix.effects.append((place, effects, None))
            for at in np.flatnonzero(types):
                needed[at].append(int(place[0]))
    return needed
