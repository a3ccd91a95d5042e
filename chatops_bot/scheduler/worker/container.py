"""Containers aren't run by this worker yet: the type is accepted and stored, its runs say why they failed."""

from __future__ import annotations

from chatops_bot.scheduler.worker.outcome import Outcome, unavailable


def run_container() -> Outcome:
    """The outcome of every container run here."""
    return unavailable("this worker has no container runtime: run the task on a worker that has one")
