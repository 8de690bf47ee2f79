"""What `make lab` adds to JupyterLab's settings: a notebook that was only looked at stays the same
in git, whatever Python its kernel runs.
"""

import json

c = get_config()  # noqa: F821  jupyter's own


def keep_version(model, path, contents_manager, **_):
    """JupyterLab writes its kernel's Python version into a notebook: keep the one in the file."""
    try:
        with open(contents_manager._get_os_path(path), encoding="utf-8") as file:
            version = json.load(file)["metadata"]["language_info"]["version"]
        model["content"]["metadata"]["language_info"]["version"] = version
    except (OSError, ValueError, KeyError, TypeError):
        pass  # a new file, or none of ours


c.FileContentsManager.pre_save_hook = keep_version
