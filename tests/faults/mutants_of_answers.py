"""Deliberate bugs in what is answered: should-run, completion, waits, acceptance as it stands,
and the state of a repo they are bound to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from loopx_kernel.domain import completion, contract, standing, waits
from loopx_kernel.observe import git, look, repo

from tests.faults.mutants import Mutant, Patch, made
from tests.faults.mutants_of_judgement import by, nothing
from tests.kernel.domain import (
    test_closure,
    test_completion,
    test_contract,
    test_contract_order,
)
from tests.kernel.observe import test_repo
from tests.kernel.workspace.build import Place

Desk = contract._Desk


def rule(name: str) -> Callable[[Patch], None]:
    """The rule of that name never matches."""
    return lambda patch: patch.setattr(Desk, name, nothing)


def _in_the_order_they_came(patch: Patch) -> None:
    patch.setattr(Desk, "_place", lambda self, todo: (int(todo.id[1:]),))


def _sees_the_future(state: Any, todo: Any, now: datetime) -> datetime:
    looked = waits._seen(state, todo)
    return max(filter(None, (todo.changed_at, looked)))


def _optional_items_count(state: Any) -> Any:
    return state.rules.acceptance if state.rules is not None else ()


def _links_are_followed(patch: Patch) -> None:
    patch.setattr(look.Look, "kind_and_content", _through_links)


def _through_links(self: Any, path: Path, name: str) -> bytes | None:
    return look.hexed(name, [path.read_bytes()], 0) if path.exists() else None


def _as_git_was_told(patch: Patch) -> None:
    """Files that git was asked not to look at are not looked at."""
    listing = git.listing

    def trusting(found: Any) -> Any:
        known = listing(found)
        assert known is not None
        told = git._records(found.ask("ls-files", "-z", "-m", "-o", "--exclude-standard"))
        return replace(known, look=frozenset(told))

    patch.setattr(git, "listing", trusting)


def _settings_believed(patch: Patch) -> None:
    patch.setattr(git, "_overruled", lambda told: ())


def _monitor_believed(patch: Patch) -> None:
    for key in ("core.fsmonitor", "core.hooksPath"):
        patch.delitem(git._SETTINGS, key)


def _in_a_repo(test: Callable[..., None], *more: Any) -> Callable[[Place, Path, Patch], None]:
    """A killer on a git repo in a folder of its own."""
    return lambda place, folder, patch: test(test_repo.made(made(folder) / "mall"), *more)


def _hostile(place: Place, folder: Path, patch: Patch) -> None:
    patch.setenv("HOME", str(made(folder)))
    repo_there = test_repo.made(folder / "mall")
    test_repo.test_nothing_in_the_repositorys_settings_is_run(repo_there, folder, patch)


MUTANTS_OF_ANSWERS = [
    Mutant(
        "an escalation of the goal stops nothing",
        rule("escalated"),
        by(
            test_contract_order.test_an_escalation_of_the_goal_stops_all_of_it_even_before_drift,
            test_contract.NOTHING,
        ),
    ),
    Mutant(
        "a turn without a receipt is not seen",
        rule("unclosed"),
        by(test_contract_order.test_a_turn_whose_lease_ended_is_recovered_before_anything_else),
    ),
    Mutant(
        "all done is done, whatever acceptance says",
        rule("unaccepted"),
        by(test_contract_order.test_all_done_with_acceptance_open_is_a_contradiction_to_repair),
    ),
    Mutant(
        "work is taken in the order it came",
        _in_the_order_they_came,
        by(test_contract_order.test_work_without_progress_comes_after_what_was_not_tried),
    ),
    Mutant(
        "a used-up window stops nothing",
        lambda patch: patch.setattr(contract, "is_exhausted", lambda *_: False),
        by(test_contract.test_scenario_29_a_used_up_window_waits_for_the_first_slot_to_free),
    ),
    Mutant(
        "files that another holds are written too",
        lambda patch: patch.setattr(Desk, "_scope_held", nothing),
        by(test_contract.test_files_held_for_another_goal_are_waited_for_and_nothing_else_is),
    ),
    Mutant(
        "a gate that waits for a person is waited for",
        lambda patch: patch.setattr(Desk, "stuck_on_a_person", nothing),
        by(test_contract.test_rule_6_a_gate_asks_its_question),
    ),
    Mutant(
        "a result from before the last work counts",
        lambda patch: patch.setattr(standing, "worked_seq", lambda state: 0),
        by(test_contract_order.test_a_result_from_before_the_last_work_is_run_again),
    ),
    Mutant(
        "optional items are enough",
        lambda patch: patch.setattr(standing, "required_items", _optional_items_count),
        by(test_completion.test_an_acceptance_item_without_a_pass_is_a_gap),
    ),
    Mutant(
        "a person's word holds for ever",
        lambda patch: patch.setattr(standing, "is_accepted", lambda s: s.accepted is not None),
        by(test_closure.test_a_word_given_before_the_last_work_is_worth_nothing),
    ),
    Mutant(
        "inconclusive passes",
        lambda patch: patch.setattr(
            completion, "gaps", lambda s: tuple(r for r in s.results if "failed" in r)
        ),
        by(test_closure.test_each_alone_blocks_and_names_itself, "acceptance inconclusive"),
    ),
    Mutant(
        "what was told closes the goal",
        lambda patch: patch.setattr(completion, "is_unproven", lambda _, s: s.status != "pass"),
        by(test_closure.test_each_alone_blocks_and_names_itself, "CI only told"),
    ),
    Mutant(
        "a line without effect does not matter",
        lambda patch: patch.setattr(completion, "_integrity", lambda *_: ()),
        by(test_closure.test_each_alone_blocks_and_names_itself, "a bad line"),
    ),
    Mutant(
        "a required source need not be read",
        lambda patch: patch.setattr(completion, "_unread", lambda *_: ()),
        by(test_completion.test_a_required_source_counts_when_read_after_the_work),
    ),
    Mutant(
        "an open turn does not keep a goal open",
        lambda patch: patch.setattr(
            completion,
            "_check",
            lambda gate, name, ids: completion.Check(
                gate, name, not ids or name == "turns_closed", len(ids), ids
            ),
        ),
        by(test_closure.test_each_alone_blocks_and_names_itself, "an open turn"),
    ),
    Mutant(
        "a look is forgotten",
        lambda patch: patch.setattr(waits, "_seen", nothing),
        by(
            test_contract_order.test_a_wait_keeps_its_rhythm_from_the_last_look_and_then_asks,
            *(100, 120, "wait", 130),
        ),
    ),
    Mutant(
        "a look in the future puts everything off",
        lambda patch: patch.setattr(waits, "last_look", _sees_the_future),
        by(test_contract_order.test_a_look_that_bears_a_time_to_come_puts_nothing_off),
    ),
    Mutant(
        "a wait is patient for ever",
        lambda patch: patch.setattr(waits, "PATIENCE", 10**6),
        by(test_contract.test_a_wait_without_a_look_for_12_rhythms_asks),
    ),
    Mutant(
        "a lease that lives on rings at once",
        lambda patch: patch.setattr(waits.schedule, "after", waits.schedule.at),
        by(test_contract.test_a_lease_in_its_grace_does_not_ring_at_once),
    ),
    Mutant(
        "links are followed out of the repo",
        _links_are_followed,
        lambda place, folder, patch: test_repo.test_what_a_link_leads_to_does_not_count(
            test_repo.made(made(folder) / "mall"), folder
        ),
    ),
    Mutant(
        "what git was told not to look at is not looked at",
        _as_git_was_told,
        _in_a_repo(test_repo.test_what_changes_the_state, test_repo.told_to_skip),
    ),
    Mutant(
        "filters of the repo are run",
        _settings_believed,
        _hostile,
    ),
    Mutant(
        "the monitor of the repo is run",
        _monitor_believed,
        _hostile,
    ),
    Mutant(
        "repositories inside are not looked into",
        lambda patch: patch.setattr(repo, "_nested", lambda *_: {}),
        lambda place, folder, patch: test_repo.test_repositories_inside_count_with_their_own_state(
            test_repo.made(made(folder) / "mall"), folder, "untracked"
        ),
    ),
    Mutant(
        "the rendered files of the kernel are the state of the repo",
        lambda patch: patch.setattr(look.Look, "leaves_out", lambda *_: False),
        _in_a_repo(
            test_repo.test_what_does_not_change_the_state,
            lambda place: test_repo.write(place, ".loopx/runtime/events.jsonl"),
        ),
    ),
    Mutant(
        "a file that changes while it is read is what it was",
        lambda patch: patch.setattr(look, "_marks", lambda found: (0, 0, 0, 0)),
        lambda place, folder, patch: (
            test_repo.test_a_file_that_changes_while_it_is_read_does_not_give_an_old_state(
                test_repo.made(made(folder) / "mall"), patch
            )
        ),
    ),
]
