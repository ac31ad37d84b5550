"""Deliberate bugs in acceptance, each with the test that must notice it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from loopx_kernel.domain import acceptance, judging, standing
from loopx_kernel.observe import acceptance as running
from loopx_kernel.observe import judge, run
from loopx_kernel.workspace import goals
from loopx_kernel.workspace.core import Core

from tests.faults.mutants import Mutant, Patch
from tests.kernel.domain import test_acceptance, test_standing
from tests.kernel.observe import test_acceptance as test_running
from tests.kernel.workspace import test_accepting


def _nothing(*_: Any, **__: Any) -> None:
    return None


def _what_lay_there_counts(patch: Patch) -> None:
    of_file = running._of_file

    def careless(item: Any, bench: Any, before: dict[str, Any]) -> Any:
        return of_file(item, bench, dict.fromkeys(before))

    patch.setattr(running, "_of_file", careless)


def _what_changed_meanwhile_counts(patch: Patch) -> None:
    patch.setattr(running, "_mark", lambda repo, path: (0,) if (repo / path).exists() else None)


def _path_of_the_caller(patch: Patch) -> None:
    patch.setattr(run, "_environment", lambda cwd, search: dict(os.environ))


def _a_word_holds_for_any_files(patch: Patch) -> None:
    plain = standing.is_accepted
    patch.setattr(standing, "is_accepted", lambda state, now=None: plain(state))


def _a_tie_passes(patch: Patch) -> None:
    def generous(votes: Sequence[int | None], threshold: int) -> judging.Verdict:
        return judging.verdict([*votes, threshold], threshold)

    patch.setattr(judge, "verdict", generous)


def _a_number_anywhere_is_a_vote(patch: Patch) -> None:
    def lenient(word: str | None) -> int | None:
        found = re.search(r"[0-9]+", word or "")
        return int(found[0]) if found else None

    patch.setattr(judge, "vote_of", lenient)


def _a_worker_judges(patch: Patch) -> None:
    patch.setattr(goals, "check_judge", _nothing)


def _work_during_a_run_was_seen(patch: Patch) -> None:
    patch.setattr(acceptance, "_counts_from", lambda state, one, seq: seq)


def _any_parts(patch: Patch) -> None:
    patch.setattr(acceptance, "check_parts", _nothing)


def _the_rendered_list_is_work(patch: Patch) -> None:
    patch.setattr(Core, "rendered_in_repo", lambda *_: ())


def _own(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


MUTANTS_OF_ACCEPTANCE = [
    Mutant(
        "a report that lay there passes",
        _what_lay_there_counts,
        lambda place, folder, patch: test_running.test_a_worker_cannot_make_an_item_pass(
            test_running.report_by_hand, _own(folder), patch
        ),
    ),
    Mutant(
        "a report is changed while it is read",
        _what_changed_meanwhile_counts,
        lambda place, folder, patch: (
            test_running.test_a_file_that_changes_while_it_is_read_proves_nothing(
                _own(folder), patch
            )
        ),
    ),
    Mutant(
        "a file in the repo passes for a program",
        _path_of_the_caller,
        lambda place, folder, patch: test_running.test_a_worker_cannot_make_an_item_pass(
            test_running.program_in_the_repo, _own(folder), patch
        ),
    ),
    Mutant(
        "half of the votes pass",
        _a_tie_passes,
        lambda place, folder, patch: (
            test_running.test_a_strict_majority_decides_and_an_error_is_a_no(
                "9 9 2 2", "failed", 2, "0.5", _own(folder)
            )
        ),
    ),
    Mutant(
        "a number in a sentence is a vote",
        _a_number_anywhere_is_a_vote,
        lambda place, folder, patch: test_running.test_a_vote_is_one_exact_word(
            "print('I would say 9')", "inconclusive", None, "0", _own(folder)
        ),
    ),
    Mutant(
        "a worker judges its own work",
        _a_worker_judges,
        lambda place, folder, patch: test_accepting.test_a_worker_is_no_judge(_own(folder)),
    ),
    Mutant(
        "what passed stands for work that came meanwhile",
        _work_during_a_run_was_seen,
        lambda place, folder, patch: (
            test_acceptance.test_work_that_changed_while_it_ran_was_not_looked_at()
        ),
    ),
    Mutant(
        "a run adds any work it likes",
        _any_parts,
        lambda place, folder, patch: (
            test_acceptance.test_a_line_by_hand_does_nothing_a_run_could_not(
                test_acceptance.FORGED["other work in place of the fix"]
            )
        ),
    ),
    Mutant(
        "the rendered list counts as a change of the repo",
        _the_rendered_list_is_work,
        lambda place, folder, patch: test_accepting.test_a_run_is_bound_to_the_repo_it_saw(
            _own(folder)
        ),
    ),
    Mutant(
        "a result holds whatever became of the files",
        lambda patch: patch.setattr(standing, "_saw", lambda *_: True),
        lambda place, folder, patch: (
            test_standing.test_what_closes_a_goal_later_does_not_close_it_over_other_files()
        ),
    ),
    Mutant(
        "so does a person's word",
        _a_word_holds_for_any_files,
        lambda place, folder, patch: (
            test_standing.test_a_persons_word_holds_for_the_files_they_saw()
        ),
    ),
    Mutant(
        "what each run changes is run again without end",
        lambda patch: patch.setattr(standing, "keeps_changing", lambda *_: False),
        lambda place, folder, patch: (
            test_standing.test_a_run_that_changes_what_it_looks_at_is_made_again_once(
                *test_standing.RUNS[3]
            )
        ),
    ),
    Mutant(
        "files that changed once are never run again",
        lambda patch: patch.setattr(acceptance, "_is_restless", lambda _, one: bool(one.left)),
        lambda place, folder, patch: (
            test_standing.test_a_run_that_changes_what_it_looks_at_is_made_again_once(
                *test_standing.RUNS[1]
            )
        ),
    ),
]
