"""Level 3: switches and topology. The translation at hand lacks this section: `where` names the
English edition's parts.
"""

from fabriclab.course.topology.rows import definitions, napkin, others, rails, trees

ROWS = [*definitions.ROWS, *trees.ROWS, *napkin.ROWS, *rails.ROWS, *others.ROWS]
