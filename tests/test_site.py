"""The reading site: whole, offline, alive without a kernel. What needs a browser needs Chromium.

Two pages in the default run; every page of the whole site in `make test-all`.
"""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import lab
import nbformat
import numpy as np
import pytest

from fabriclab import doctor
from tools.site import build, frames
from tools.site.text import Sections, docstring, markdown

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM = doctor.chromium() if hasattr(doctor, "chromium") else None
QUICK = "10-scale-up"
