"""The words of the screens about one goal: its tabs, its history, the doctor, the quarantine."""

from __future__ import annotations

from typing import Final

# The goal's tabs
CHANGES: Final = "Changes"
TURNS: Final = "Turns"
EVENTS: Final = "Events"
REPORT: Final = "Report"
SIDE: Final = "Detail"

NO_CHANGES: Final = "No change of mind yet. Ask for another route with R, word the objective with O"
NO_TURNS: Final = "No turns yet. Agents begin one with `loopx turn begin`"
NO_REPORT: Final = "The report on the last 7 days stands here once it was read"
NO_SIDE: Final = "Everything known about the row under the cursor stands here"
NO_BOOKINGS: Final = "No slots booked in the window"
READING_MORE: Final = "Reading what the journal says of it …"
READING: Final = "Reading the journal … {part:.0%}"
LINEAGE: Final = "Lineage"
LINEAGE_OF: Final = "what came of what"
FINISHED_EARLIER: Final = "finished long ago"
ALSO_FROM: Final = "also from {ids}"
NOW: Final = "now"
THEN: Final = "then"
BURN: Final = "Burn"
EVEN_PACE: Final = "even pace"
SLOTS_PER: Final = "slots per {width}"
OPEN_FOR: Final = "open"

# History
PAST: Final = "PAST"
AS_ONCE: Final = "PAST: how it was; esc close"
AT_START: Final = "This is the first line"
AT_END: Final = "This is the last line there is; escape goes back to the present"
NO_SUCH_LINE: Final = "{goal} has the lines 1 to {last}"
NOTHING_ABOUT: Final = "No other line about {object} in that direction"
NO_OBJECT: Final = "Put the cursor on an object first"
NO_REPORT_THEN: Final = "Reports are of the present. `loopx report` makes one of the past as well"
JUMP_TITLE: Final = "Jump in the history of {goal}"
JUMP_HELP: Final = "A line (142), a time (14:30, 2026-09-16 14:30, 2h ago), start, end, an event id"
JUMP_HINT: Final = "enter jump"
NOT_A_PLACE: Final = "{text} is no line, time or event"
GOING: Final = "going to #{seq} …"

# Hiding panes
HIDDEN: Final = "{pane} is hidden; {number} brings it back, + all of them"
NOT_HIDDEN: Final = "This pane shares its place; press the number of another"
ALL_SHOWN: Final = "Every pane is shown"

# Jumping to an object by its id
PALETTE_PROMPT: Final = "filter, or the id of anything: T5, G4, turn-0081, #412, a goal"
NOT_FOUND: Final = "Nothing here is called {name}"
LOOK_UP: Final = "look it up in the journal of {goal}"

# The doctor
DOCTOR: Final = "Doctor"
DOCTOR_EMPTY: Final = "Every layer is looked at, each journal from its first line on …"
HEALTHY: Final = "healthy"
UNHEALTHY: Final = "{count} not well"
LOOKING: Final = "looking"

# The quarantine
QUARANTINE: Final = "Quarantine"
QUARANTINE_EMPTY: Final = "Nothing is set aside, and everything could be read"
NO_BYTES: Final = "there is nothing there"
SET_ASIDE: Final = "set aside"
IN_THE_WAY: Final = "in the way"
WELL: Final = "well"
NOT_WELL: Final = "not well"
WEAK: Final = "weak"
