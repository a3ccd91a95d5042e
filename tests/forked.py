"""Processes that are forked from one that has imported the bot already: each costs a tenth of a second and not one whole.

A test run has one such server, so what it imports stands in one place.
"""

import multiprocessing

processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["tests.scenarios.dying_bot", "tests.kills.warm", "tests.warm_commands"])
