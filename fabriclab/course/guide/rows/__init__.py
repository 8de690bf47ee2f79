"""The field guide on all but scale-up: its tiers, InfiniBand and RoCE, rails, the systems it names,
NCCL, failures, adapters, its numbers.
"""

from fabriclab.course.guide.rows import adapters, choices, experience, failures, systems

ROWS = [*choices.ROWS, *systems.ROWS, *failures.ROWS, *adapters.ROWS, *experience.ROWS]
