"""Deliberate bugs in facts from outside and in the commands that are run to see them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.domain import completion, hot, landing, observation
from loopx_kernel.observe import run

from tests.faults.mutants import Mutant, made
from tests.kernel.domain import test_observation
from tests.kernel.observe import test_run
from tests.kernel.workspace.build import Place

Patch = pytest.MonkeyPatch


def _nothing(*_: Any, **__: Any) -> None:
    return None


def _fixes_again(state: Any, *rest: Any) -> Any:
    return landing.fixes(state.model_copy(update={"observations": {}}), *rest)


def _one_fix(*_: Any) -> None:
    test_observation.test_a_failure_has_one_todo_that_mends_it_until_it_passes([], 0)


def _another_fix(*_: Any) -> None:
    green = ["mended", test_observation.PASSES]
    test_observation.test_a_failure_has_one_todo_that_mends_it_until_it_passes(green, 1)


def _uncounted(patch: Patch) -> None:
    check = completion._check
    patch.setattr(completion, "_check", lambda gate, name, ids, more=0: check(gate, name, ids))


def _counted(*_: Any) -> None:
    test_observation.test_facts_that_nothing_can_prove_any_more_leave_and_are_counted()


def _by_hand(*_: Any) -> None:
    payload = test_observation._payload(parts=[])
    test_observation.test_one_that_says_anything_else_has_no_effect(payload)


def _another_command(*_: Any) -> None:
    look = test_observation.ran(0, command="true")
    test_observation.test_a_look_that_does_not_fit_is_refused(look, "invalid_event")


def _owed(*_: Any) -> None:
    test_observation.test_what_a_probe_may_prove_or_a_todo_is_to_mend_stays()


def _environment(_: Place, folder: Path, patch: Patch) -> None:
    test_run.test_its_environment_holds_nothing_of_ours(made(folder), patch)


MUTANTS_OF_FACTS = [
    Mutant(
        "every red look makes a todo to fix it",
        lambda patch: patch.setattr(observation, "fixes", _fixes_again),
        _one_fix,
    ),
    Mutant(
        "what follows from a look is believed as it is written",
        lambda patch: patch.setattr(observation, "check_parts", _nothing),
        _by_hand,
    ),
    Mutant(
        "any command counts as the probe of the rules",
        lambda patch: patch.setattr(observation, "_as_in_the_rules", lambda *_: True),
        _another_command,
    ),
    Mutant(
        "one todo is to mend every failure there will ever be",
        lambda patch: patch.setattr(landing, "_is_being_mended", lambda _, seen: bool(seen.fix)),
        _another_fix,
    ),
    Mutant(
        "what a probe may still prove is forgotten",
        lambda patch: patch.setattr(hot, "_is_needed", lambda *_: False),
        _owed,
    ),
    Mutant("what was forgotten unproven counts for nothing", _uncounted, _counted),
    Mutant(
        "a command of the rules sees the whole environment",
        lambda patch: patch.setattr(run, "_environment", lambda cwd, search: dict(os.environ)),
        _environment,
    ),
]
