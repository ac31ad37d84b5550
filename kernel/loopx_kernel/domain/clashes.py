"""Live leases that may touch the same files: no command allows it, hand-written lines may."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from loopx_kernel.clock import to_the_second
from loopx_kernel.domain.event import LiveLease
from loopx_kernel.domain.scope import overlap
from loopx_kernel.value import Value


class Clash(Value):
    """Two live leases whose scopes overlap on disk; whoever came later must not go on."""

    earlier: LiveLease
    later: LiveLease
    scopes: tuple[str, str]

    @property
    def id(self) -> str:
        """The two todos, the earlier one first."""
        return f"{self.earlier.place}+{self.later.place}"

    @property
    def sentence(self) -> str:
        """Which leases, whose, and over what, for people."""
        mine, theirs = self.scopes
        return (
            f"two live leases overlap: {self.earlier.place} of {self.earlier.owner} ({mine}) since "
            f"{to_the_second(self.earlier.acquired_at)}, and {self.later.place} of "
            f"{self.later.owner} ({theirs}) since {to_the_second(self.later.acquired_at)}"
        )


def clashes(own: Sequence[LiveLease], others: Iterable[LiveLease]) -> tuple[Clash, ...]:
    """The overlaps of a goal's leases with one another and with those of other goals.

    Scopes and repos are as on disk, links followed.
    """
    pairs = [(one, two) for place, one in enumerate(own) for two in own[place + 1 :]]
    pairs += [(one, two) for two in others for one in own]
    return tuple(found for one, two in pairs if (found := _clash(one, two)) is not None)


def _clash(one: LiveLease, two: LiveLease) -> Clash | None:
    earlier, later = sorted((one, two), key=_age)
    if _was_over(earlier, later):
        return None
    scopes = overlap(earlier.repo, earlier.write_scopes, later.repo, later.write_scopes)
    return None if scopes is None else Clash(earlier, later, scopes)


def _was_over(one: LiveLease, two: LiveLease) -> bool:
    """Whether another machine, on which both were taken, knew that one was over when it gave
    the other: it had booted since, or gives itself no minute of grace as this one must."""
    here, there = one.abroad, two.abroad
    if here is None or there is None or here.host_id != there.host_id:
        return False
    if here.boot_id != there.boot_id:
        return True
    return here.renewed_at >= two.expires_at or there.renewed_at >= one.expires_at


def _age(lease: LiveLease) -> tuple[float, str]:
    # All who look must agree which is the later, so nothing is left to their order.
    return lease.acquired_at.timestamp(), lease.place
