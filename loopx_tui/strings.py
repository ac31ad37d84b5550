"""Every label and sentence of the terminal UI, in one place and one tone."""

from __future__ import annotations

from typing import Final

APP: Final = "loopx"

# Panes: titles as on the screen
GOALS: Final = "Goals"
NEEDS: Final = "Needs you"
TODOS: Final = "Todos"
BEAT: Final = "Next beat"
COMPLETION: Final = "Completion"
LEASES: Final = "Leases"
SOURCES: Final = "Sources"
QUOTA: Final = "Quota"
EVENTS: Final = "Changes and events"
EVENTS_SHORT: Final = "Events"
ALERTS: Final = "Alerts"
OWNERS: Final = "Owners"

# What would be in an empty pane, and how it comes
NOT_LOADED: Final = "loading"
LOADED: Final = "loading {part:.0%}"
LOADING: Final = "Reading the ledger …"
NO_OWNERS: Final = "nobody. The first one is made by `loopx connect`"
NO_GOALS: Final = "No goals yet. Open one with `loopx start-goal --guided`"
NO_NEEDS: Final = "Nothing waits for you. Agents ask with `loopx gate request`"
NO_TODOS: Final = "No todos. Add one with `loopx todo add 'First piece of work'`"
NO_LEASES: Final = "Nobody holds a todo. Agents take one with `loopx todo claim`"
NO_SOURCES: Final = "No sources. Register one with `loopx source add`"
NO_EVENTS: Final = "No events yet. Every change of this goal will stand here"
NO_BEAT: Final = "What an agent is told at its next wake-up, and why"
NO_COMPLETION: Final = "What stands between a goal and its end, check by check"
NO_QUOTA: Final = "How much of a goal's slots is used, and how fast"
NO_MATCH: Final = "Nothing matches {needle}; {count} rows are hidden"
MORE: Final = "… {count} more"
BEFORE: Final = "… {count} before"

INCOMPLETE_TAIL: Final = "1 incomplete line at the journal's end; it counts once it is whole"

# Header
NEED_YOU: Final = {True: "{count} needs you", False: "{count} need you"}
ALERT_COUNT: Final = {True: "{count} alert", False: "{count} alerts"}
TODO_COUNT: Final = {True: "{count} todo", False: "{count} todos"}
GOAL_COUNT: Final = {True: "{read}/{all} goal", False: "{read}/{all} goals"}
NOTHING_NEEDED: Final = "nothing needs you"
VERIFIED: Final = "verified"
TAIL_ONLY: Final = "tail since #{seq}"
AS_OF: Final = "as of {time}"
READ_ONLY: Final = "read-only"
DEMO: Final = "demo"
MODES: Final = {
    "start": "opening",
    "live": "live",
    "polling": "polling",
    "down": "watcher down",
    "none": "no workspace",
}
TINY_QUIT: Final = "q quit"

# A workspace that is not there
NO_WORKSPACE: Final = "No LoopX workspace can be read here"
NOT_READ: Final = "{path}: {why}"

# Notices: they answer a person's own act
THEME_IS: Final = "Theme: {label}"
THEME_STAYS: Final = "{why}; the screen stays as it was"
ROW_GONE: Final = "{key} is no longer in {pane}"
NOTHING: Final = "nothing"
NO_SUCH_GOAL: Final = "There is no goal {goal}; showing {shown}"
ENTER_TELLS: Final = "enter tells it all"
NOTHING_TO_OPEN: Final = "There is nothing to open here"
NOTHING_TO_COPY: Final = "There is nothing under the cursor to copy"
FILTER_PROMPT: Final = "filter {pane}; enter keeps it, escape shows all"
NO_OTHER_THEME: Final = "There is no other theme"
FEED_FAILED: Final = "Reading ended ({error}); the screen is old. Start again"

# Telling people once
NOTIFY_WRONG: Final = "config.yaml: notify is none, or has a command; it is left out"
NOTIFY_FAILED: Final = "Your notify.command did not work: {why}"

# A workspace that looks like what it is
FLAG_WRONG: Final = "config.yaml: workspaces: {why}; it is left out"

# Under what a decision is made
AGO: Final = "{age} ago"
JUST_NOW: Final = "just now"
READ_AT: Final = "Read {age}, at {time}: {fresh}; {covered}, {complete}"
FRESHNESS: Final = {True: "every source is fresh", False: "not every source is fresh"}
COVERED: Final = {
    "goal": "{read}/{all} goal covered",
    "workspace": "{read}/{all} goals of the workspace covered",
    "global": "{read}/{all} workspaces covered",
}
COMPLETENESS: Final = {True: "nothing is missing", False: "something is missing"}

# Deciding
KEYS_WAIT: Final = "Decisions open when this has stood still for a moment"
AN_AGENT: Final = "LOOPX_AGENT is set ({agent}): only a person decides, in a shell of their own"
NOT_WRITABLE: Final = "Nothing can be written to this workspace; it can only be looked at"
DECIDED: Final = "{what} is decided"
NOT_READ_YET: Final = "It is not read yet"
NEEDED: Final = "The {label} is needed"
TOO_SMALL: Final = "This window is too small to read it; make it larger"
READ_ON: Final = "It opens at the end of the text; scroll down to it"
PROGRESS: Final = {
    "fixing": "Fixing the statement …",
    "unlocking": "Opening the key …",
    "appending": "Recording …",
}
SIGN_BY_PASSPHRASE: Final = "Sign: passphrase of your key"
SIGN_AT_ONCE: Final = "Sign: this key needs no passphrase"
SIGN_WITH_KEPT: Final = "Sign: your key is still open, for {left} more"
KEEP_OPEN: Final = {
    False: "[ ] keep the key open for 15 minutes, so that no passphrase is asked for",
    True: "[x] the key stays open for 15 minutes: L drops it, and so does leaving this terminal",
}
KEY_OPEN: Final = "key open {left}"
KEY_DROPPED: Final = "The key is locked again"
NO_KEY_OPEN: Final = "No key is kept open"
KEPT_IS_OVER: Final = "The key is not open any more; type its passphrase"
OWN_KEY: Final = "Nothing but its own key decides"
ASKED: Final = {
    "touch": "Touch your hardware key now, within 30 s; escape cancels",
    "agent": "Answer your ssh-agent now, within 30 s; escape cancels",
}
"""What a person is told while a key in ssh-agent waits for them."""
WHOSE_KEY_FIRST: Final = "Write whose key it is, and the key, first"
NEW_KEY_FIRST: Final = "Name the new key first"
CHOOSE_OWNER_FIRST: Final = "Choose the owner first"
OWNER_ALREADY: Final = "{name} is an owner already; a new key is given with `new owner key`"
WORKSPACE: Final = "workspace"
TRUST_FIRST: Final = "No key mends this: `trust owners` among the commands, or loopx owner trust"
NOTHING_TO_TRUST: Final = "These are the owners you know; there is nothing to trust anew"
NOT_TRUSTED: Final = "Nothing was changed; they are not trusted"
TRUSTED: Final = "Trusted from now on: {owners}"
COMPARE_BEFORE_TRUST: Final = (
    "Compare the fingerprints with what these people tell you by another way."
)
DECIDING: Final = "A decision is under way"
FATES: Final = {
    "recorded": "The decision about {what} was recorded",
    "not recorded": "The decision about {what} was not recorded; it can be made again",
    "unknown": "It is not known whether the decision about {what} was recorded;"
    " see: loopx event list --goal {goal}",
}

# Laying rules anew
SCOPE_HINT: Final = "One path, dir/ or glob a line, such as src/theme/**. Empty: none is named."
SHARE_HINT: Final = "Of the window's slots, from 0 to 1, such as 0.4."
WINDOW_HINT: Final = "Hours that slide along with the clock."
SLOT_HINT: Final = "Minutes that one slot stands for."
RULES_HINT: Final = "YAML. A key left out stays as it is; an empty list empties it."
RULES_OF: Final = "The rules of {goal}"
RULES_DONE: Final = "rules laid anew"
SAME_RULES: Final = "Change something first; these are the rules there are"
NOTHING_CHANGES: Final = "Nothing changes yet"
WHAT_CHANGES: Final = "What changes"
SCOPE: Final = "scope"
THEN: Final = "then"
SLOTS: Final = "{slots} of {minutes} min in {hours}h (share {share})"
WHAT_YOU_WROTE: Final = "what you wrote"

# Forms, step by step
NEXT_STEP: Final = "next"
LAST_STEP: Final = "to the preview"
STEP_BACK: Final = "back"
LATER: Final = "later"

# A person's own editor
NO_EDITOR: Final = "No editor was found; name yours in $EDITOR"
NO_LENDING: Final = "This terminal cannot be lent to an editor"
EDITOR_FAILED: Final = "{editor} did not end well ({why}); the text is as it was"
EDITED_TOO_LARGE: Final = "What was saved is larger than a text for a decision may be"
EDITED_UNREADABLE: Final = "What was saved is not UTF-8 text; the text is as it was"
NOTHING_TO_EDIT: Final = "There is no text to write here"

# The command line
NO_TERMINAL: Final = "loopx-tui needs a terminal. For text use: loopx status"

# Details
BY_WALL_CLOCK: Final = "its holder took over by the wall clock: no boot clock could tell"
WALL_CLOCK: Final = "by wall clock"
NOT_RENEWED: Final = "not renewed for {age}, lease until {until}"
DETAIL_KEYS: Final = "esc close"
GONE: Final = "gone since; this is how it was"
