"""The simulator's core: events in order of time, and one function for each thing that can happen.

Everything is an integer: bytes, and picoseconds, so that equal times are equal and a run can be
repeated to the last bit. All state lies in the tables of a `State`; numba compiles the functions,
which read as Python. To be read in this order: `records` (the tables), `events` (what comes next),
`lines` (where a packet goes, who is next), `ports`, `senders`, `rates`, `receivers`, `loop`.
"""
