"""Every deliberate bug of the table is noticed by its test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.mutants import MUTANTS, Mutant
from tests.faults.mutants_of_repair import MUTANTS_OF_REPAIR
from tests.kernel.workspace.build import Place, copied

NOTICED = (Exception, pytest.fail.Exception)
ALL = [*MUTANTS, *MUTANTS_OF_REPAIR]
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
