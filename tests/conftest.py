"""What all tests share: Jupyter folders of their own, and a steady hypothesis."""

import os
import shutil
import tempfile

from hypothesis import settings

collect_ignore = ["boxed.py"]  # it runs inside a box, not under pytest
IN_CI = os.environ.get("CI", "").lower() in ("1", "true")
JUPYTER_FOLDERS = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")

# CI judges a change, so it looks at the same examples each time; at home new ones are tried.
# Deadlines only measure the machine.
settings.register_profile("fabriclab", deadline=None, derandomize=IN_CI, print_blob=True)
settings.load_profile("fabriclab")


def pytest_configure(config):
    """Keep the developer's own Jupyter settings, kernels and start-up files out of every kernel
    that a test starts.
    """
    if hasattr(config, "workerinput"):
        return  # workers inherit the environment of the process that started them
    folder = tempfile.mkdtemp(prefix="fabriclab-tests-")
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    os.environ.update({name: os.path.join(folder, name.lower()) for name in JUPYTER_FOLDERS})
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"
    os.environ["FABRICLAB_PROGRESS"] = "off"  # a kernel of a test keeps no diary


# with --dist loadfile a file goes to one worker whole: the longest begin first, so that none is
# left alone at the end
LONG = (
    "test_browser.py",
    "test_explorers.py",
    "test_classroom_sandbox.py",
    "test_exercises.py",
    "test_packets_events.py",
    "test_topology_cuts.py",
    "test_doors.py",
    "test_slides.py",
    "test_classroom_class.py",
    "test_nbgrader.py",
    "test_classroom_batch.py",
    "test_bad_input.py",
    "test_explore_behaviour.py",
    "test_site.py",
    "test_packets.py",
)


def pytest_collection_modifyitems(items):
    place = {name: at for at, name in enumerate(LONG)}
    items.sort(key=lambda item: place.get(item.path.name, len(LONG)))
