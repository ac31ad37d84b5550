"""Which tests show each scenario of governance; a scenario without its test fails here."""

from __future__ import annotations

from importlib import import_module

import pytest

CLI, DOMAIN = "tests.cli.", "tests.kernel.domain."
FIRST, WORK, CLOSURE = (
    f"{CLI}test_scenarios",
    *(f"{CLI}test_scenarios_of_{n}" for n in ("governance", "closure")),
)
TABLE: dict[int, dict[str, tuple[str, ...]]] = {
    5: {
        FIRST: ("test_scenario_05_a_hand_in_that_does_not_hold_is_refused",),
        WORK: ("test_scenario_05_a_refused_hand_in_leaves_the_turn_and_the_books_alone",),
    },
    18: {
        f"{CLI}test_state_edits": (
            "test_scenario_18_a_tick_without_an_event_stops_new_work_until_a_person_settles_it",
        ),
        WORK: ("test_scenario_18_a_turn_that_was_open_before_the_hand_edit_still_settles",),
    },
    19: {
        FIRST: ("test_scenario_19_asking_twice_changes_nothing_and_answers_twice",),
        f"{DOMAIN}test_contract": ("test_scenario_19_run_twice_with_one_todo",),
    },
    21: {
        FIRST: ("test_scenario_21_before_its_hour_the_answer_is_wait",),
        f"{DOMAIN}test_contract": ("test_scenario_21_a_date_is_waited_for",),
    },
    22: {
        WORK: ("test_scenario_22_a_list_that_says_done_is_set_right_before_anything_else",),
        f"{CLI}test_attacks": ("test_a_finished_loop_only_closes_the_gap_of_acceptance",),
    },
    23: {FIRST: ("test_scenario_23_with_nothing_to_do_it_is_quiet_and_starts_nothing",)},
    24: {
        f"{CLI}test_observe": ("test_scenario_24_a_wait_costs_nothing_until_the_result_lands",),
        f"{DOMAIN}test_contract": ("test_scenario_24_a_wait_is_frozen_and_keeps_its_rhythm",),
    },
    26: {
        WORK: ("test_scenario_26_a_worker_that_was_killed_leaves_a_failure_and_no_progress",),
        f"{CLI}test_turns": ("test_scenario_26_a_turn_without_a_receipt_is_recovered_once",),
    },
    27: {
        WORK: (
            "test_scenario_27_two_of_three_are_no_progress_one_by_one",
            "test_scenario_27_two_of_three_are_no_progress_in_one_step",
        ),
        f"{CLI}test_turns": ("test_scenario_27_two_of_three_are_no_progress",),
    },
    31: {
        CLOSURE: (
            "test_scenario_31_each_open_book_blocks_by_its_own_name",
            "test_scenario_31_acceptance_replanning_and_prose_block_too",
        ),
        f"{DOMAIN}test_closure": (
            "test_each_alone_blocks_and_names_itself",
            "test_any_two_are_both_named",
        ),
    },
    32: {CLOSURE: ("test_scenario_32_another_route_is_signed_bound_and_loses_nothing",)},
    33: {CLOSURE: ("test_scenario_33_objective_and_work_change_and_stay_readable",)},
    40: {
        WORK: ("test_scenario_40_status_tells_a_cold_reader_what_waits_and_on_what_ground",),
        f"{CLI}test_unattended": (
            "test_publishing_is_for_a_person_whatever_a_judge_says",
            "test_low_passes_once_and_is_asked_for_each_time",
            "test_anything_else_is_denied_and_asked_of_a_person_once",
            "test_without_a_judge_in_the_rules_a_person_is_asked",
            "test_a_payload_like_a_secret_is_shown_to_no_judge",
        ),
        f"{CLI}test_scenario_40": (
            "test_scenario_40_board_and_report_follow_the_signed_decision",
            "test_scenario_40_what_is_written_into_a_rendering_decides_nothing",
        ),
        f"{CLI}test_projections": (
            "test_scenario_40_the_packet_lists_every_piece_of_evidence_and_the_way_to_decide",
        ),
        "tests.tui.test_app": ("test_the_five_questions_are_answered_without_a_key",),
        "tests.tui.test_review": ("test_key_and_passphrase_record_the_decision",),
    },
}


@pytest.mark.parametrize("number", TABLE)
def test_a_scenario_has_its_tests(number: int) -> None:
    for module, names in TABLE[number].items():
        there = import_module(module)
        assert [name for name in names if not callable(getattr(there, name, None))] == [], module
