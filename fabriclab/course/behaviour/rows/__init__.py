"""Level 4: bulk-synchronous steps, PFC and deadlock, congestion control, hashing, incast."""

from fabriclab.course.behaviour.rows import failures, pauses

ROWS = [*pauses.ROWS, *failures.ROWS]
