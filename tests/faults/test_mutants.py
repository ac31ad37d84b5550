"""Every deliberate bug of the table is noticed by its test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.mutants import MUTANTS, Mutant
from tests.faults.mutants_of_acceptance import MUTANTS_OF_ACCEPTANCE
from tests.faults.mutants_of_answers import MUTANTS_OF_ANSWERS
from tests.faults.mutants_of_changes import MUTANTS_OF_CHANGES
from tests.faults.mutants_of_facts import MUTANTS_OF_FACTS
from tests.faults.mutants_of_gates import MUTANTS_OF_GATES
from tests.faults.mutants_of_holding import MUTANTS_OF_HOLDING
from tests.faults.mutants_of_judgement import MUTANTS_OF_JUDGEMENT
from tests.faults.mutants_of_projections import MUTANTS_OF_PROJECTIONS
from tests.faults.mutants_of_proofs import MUTANTS_OF_PROOFS
from tests.faults.mutants_of_repair import MUTANTS_OF_REPAIR
from tests.faults.mutants_of_storage import MUTANTS_OF_STORAGE
from tests.kernel.workspace.build import Place, copied

NOTICED = (Exception, pytest.fail.Exception)
ALL = [
    *MUTANTS,
    *MUTANTS_OF_STORAGE,
    *MUTANTS_OF_REPAIR,
    *MUTANTS_OF_PROOFS,
    *MUTANTS_OF_HOLDING,
    *MUTANTS_OF_CHANGES,
    *MUTANTS_OF_FACTS,
    *MUTANTS_OF_ACCEPTANCE,
    *MUTANTS_OF_JUDGEMENT,
    *MUTANTS_OF_GATES,
    *MUTANTS_OF_ANSWERS,
    *MUTANTS_OF_PROJECTIONS,
]
BY_NAME = pytest.mark.parametrize("mutant", ALL, ids=lambda mutant: mutant.name)


@BY_NAME
def test_a_deliberate_bug_is_noticed(place: Place, tmp_path: Path, mutant: Mutant) -> None:
    sound, broken = tmp_path / "sound", tmp_path / "broken"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOPX_CACHE_DIR", str(sound / "cache"))
        mutant.killer(copied(place, sound), sound / "own", patch)
    with pytest.MonkeyPatch.context() as bug, pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOPX_CACHE_DIR", str(broken / "cache"))
        mutant.breaks(bug)
        with pytest.raises(NOTICED):
            mutant.killer(copied(place, broken), broken / "own", patch)


def test_no_two_bugs_have_one_name() -> None:
    assert len({mutant.name for mutant in ALL}) == len(ALL)
