"""Twelve questions on what people believe about networks before they have computed anything.

Each wrong option is a belief that students bring; the name of the belief is what a class report
counts. No question needs a formula, and none names the chapter's terms before they are taught.
"""

from dataclasses import dataclass

from fabriclab.course.engine.exercises.core import Draw


@dataclass(frozen=True)
class Question:
    """A question, its right option, and {wrong option: the belief behind it}."""

    id: str
    asks: str
    right: str
    wrong: dict[str, str]

    def lettered(self):
        """{letter: option}, in an order that is the same for everybody."""
        options = Draw("inventory", self.id).shuffle("options", [self.right, *self.wrong])
        return dict(zip("abcd", options, strict=True))

    def belief(self, letter):
        """The belief behind a letter, or None for the right one."""
        return self.wrong.get(self.lettered()[letter])


QUESTIONS = (
    Question(
        "speed",
        "A link of 100 Gb/s is replaced by one of 400 Gb/s over the same 2 km of fibre. A message"
        " of a single byte now arrives",
        "at practically the same time as before",
        {
            "in about a quarter of the time": "bandwidth is speed",
            "in about half of the time": "bandwidth is speed, in part",
            "later, as faster links need more checking for each bit": "faster links are slower",
        },
    ),
    Question(
        "lossless",
        "A network is sold as lossless. A bit is flipped on a cable by noise, and no correction"
        " can mend it. The packet",
        "is lost, and some end must send it again",
        {
            "cannot be lost, as that is what lossless means": "lossless means no loss",
            "is held in the switch until the cable is better": "switches keep copies",
            "is delivered with the flipped bit in it": "lossless means delivered anyway",
        },
    ),
    Question(
        "buffer",
        "Sixteen senders send to one receiver for as long as they can, each at full rate. The"
        " switch gets ten times the buffer. Then, in the long run,",
        "packets wait longer, and the receiver gets no more each second",
        {
            "the receiver gets more each second": "more buffer is more throughput",
            "the packets wait less, as there is more room": "more buffer is less waiting",
            "nothing overflows any more": "a large enough buffer ends loss",
        },
    ),
    Question(
        "average",
        "A job's 64 flows are hashed over 64 equal paths. On average each path has one flow. The"
        " job, which waits for its last flow, takes",
        "several times as long as with exactly one flow on each path",
        {
            "the same time, as the load is balanced": "balanced on average is finished together",
            "a few per cent longer, for chance evens out": "chance evens out with 64",
            "less, as some of the paths stay free": "free paths help the others",
        },
    ),
    Question(
        "utilisation",
        "A monitor shows that a link was used to 12 % over the last minute. From that alone you"
        " know that the link",
        "may have been full for some seconds of it",
        {
            "has never been full in that minute": "a low mean excludes a full link",
            "delayed no packet noticeably": "a low mean excludes queues",
            "could be eight times as slow without harm": "mean use is what a job needs",
        },
    ),
    Question(
        "delays",
        "A packet of 1,000 bytes crosses 1,000 km of idle fibre at 100 Gb/s. Most of its time goes"
        " into",
        "travelling along the fibre",
        {
            "being put onto the fibre, bit by bit": "transmission dominates everywhere",
            "waiting in queues": "delay is queueing",
            "being processed by both computers": "delay is software",
        },
    ),
    Question(
        "size",
        "On one idle link, a file a million times as large as a packet takes a million times as"
        " long to be *put onto* it. The time until its *first* bit arrives is",
        "the same as for the packet",
        {
            "a million times as long, too": "propagation grows with size",
            "longer, but by less than a million": "large messages travel more slowly",
            "shorter, as large files are sent in bulk": "bulk travels faster",
        },
    ),
    Question(
        "cut-through",
        "A large packet passes five idle switches. Each may begin to send it on as soon as the"
        " header is in, instead of waiting for its end. Compared with waiting, this saves",
        "the time to put the packet on a link, at each of the switches",
        {
            "the time light takes from switch to switch": "cut-through shortens propagation",
            "nothing, since all its bits must pass anyway": "store-and-forward is free",
            "half of the bandwidth at each of the switches": "cut-through adds bandwidth",
        },
    ),
    Question(
        "slowest",
        "1,000 workers compute and then wait for each other. One becomes 20 % slower. The work done"
        " by all together each hour falls by",
        "about a sixth",
        {
            "about 0.02 %": "one slow part of many is averaged away",
            "about 1 %": "a slow part costs a little more than its share",
            "nothing, as others take over its part": "work is shared out by itself",
        },
    ),
    Question(
        "failures",
        "A part fails once in 200 years on average. A machine has 20,000 of them, all needed. It"
        " is stopped by one of them",
        "every few days",
        {
            "about once in 200 years": "a reliable part makes a reliable whole",
            "about once a year": "many parts fail together, so seldom",
            "only when the parts get old": "failures wait for old age",
        },
    ),
    Question(
        "two",
        "Between two racks lie four cables of 100 Gb/s. One connection, which must keep its packets"
        " in order, is moved from one cable to this bundle. It gets",
        "100 Gb/s, as before",
        {
            "400 Gb/s": "parallel links are one fast link",
            "about 200 Gb/s, by taking turns": "a bundle is shared out to each flow",
            "less than 100 Gb/s, for the bundle must be managed": "bundling costs bandwidth",
        },
    ),
    Question(
        "pause",
        "A receiver is too slow, and the network pauses whoever sends to its switch. Flows to"
        " *other* receivers that share a link with it",
        "may be stopped as well",
        {
            "get more room, as one flow is stopped": "a pause stops the culprit alone",
            "notice nothing, as they go elsewhere": "flows on one link are independent",
            "lose packets in place of the paused flow": "a pause moves loss to others",
        },
    ),
)
