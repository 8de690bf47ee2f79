"""Level 2: transport, the alpha-beta model, AllReduce thresholds, and the appendices the chapter
leans on for them.
"""

from fabriclab.course.transport.rows import appendices, collectives, model, rdma

ROWS = [*rdma.ROWS, *model.ROWS, *collectives.ROWS, *appendices.ROWS]
