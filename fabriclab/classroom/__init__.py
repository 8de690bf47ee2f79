"""A class: hand out a kit to each student, take back what they send, grade it, and say what the
class has learnt. Floor 7.

Students' code is run in `sandbox` only, and hands out answers as plain data (`exercises.take`); the
data is judged outside, in a process that never saw the code (`exercises.judge`). The commands are
`fabriclab release` and `fabriclab grade`.
"""
