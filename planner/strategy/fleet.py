"""Machines that are there in each month: those owned already, then each purchase from its delivery on."""

from __future__ import annotations

import numpy as np

from planner.cost.course import Array
from planner.performance.uptime import uptime_share
from planner.strategy.machines import Machine
from planner.strategy.parameters import Theta
from planner.strategy.problem import PlanProblem


def cohort_units(machine: Machine, count: Array) -> list[Array]:
    """Units in each cohort of a machine type, by row.

    Parameters
    ----------
    machine : Machine
        The type, with its cohorts.
    count : array, shape [rows]
        All machines of the type, whenever they come: those owned already first, then the purchases in their order.

    Returns
    -------
    list of array
        In the order of the cohorts. The last purchase takes what is beyond the others.
    """
    bought = [index for index, cohort in enumerate(machine.cohorts) if not cohort.owned]
    units = [count] * len(machine.cohorts)
    left = count
    for index, cohort in enumerate(machine.cohorts):
        if cohort.owned:
            units[index] = np.minimum(left, float(cohort.count or 0))
            left = left - units[index]
    for index in bought:
        size = machine.cohorts[index].count
        units[index] = left if size is None or index == bought[-1] else np.minimum(left, size)
        left = left - units[index]
    return units


def machines_there(problem: PlanProblem, count: Array) -> Array:
    """Machines of each type that can be used in each month.

    Parameters
    ----------
    problem : PlanProblem
        The resolved question.
    count : array, shape [rows, machines]
        Machines of each type, whenever they come.

    Returns
    -------
    array, shape [rows, machines, months]
        A single month where all machines are there from the start.
    """
    if not any(machine.complete_after for machine in problem.machines):
        return count[:, :, None]
    months = np.arange(1, problem.horizon_months + 1)
    there = np.zeros((*count.shape, len(months)))
    for index, machine in enumerate(problem.machines):
        for cohort, units in zip(machine.cohorts, cohort_units(machine, count[:, index]), strict=True):
            there[:, index] += units[:, None] * (months > cohort.there_after)
    return there


def powered_h_by_month(problem: PlanProblem, theta: Theta, there: Array) -> Array:
    """Machine-hours that machines are on and work, of those there in each month. [rows, machines, months or 1]"""
    each = [powered_h_of_one(machine, theta) for machine in problem.machines]
    return np.asarray(there * np.stack(each, axis=1)[:, :, None]) if each else there


def powered_h_of_one(machine: Machine, theta: Theta) -> Array:
    """Hours a month that a machine is switched on, without those away for repair where failures count. [rows]"""
    powered_h = theta[:, machine.powered_h_at]
    failures = machine.failures
    if failures is None:
        return powered_h
    uptime = uptime_share(theta[:, failures.per_year_at], theta[:, failures.repair_h_at], powered_h)
    return np.asarray(powered_h * uptime)
