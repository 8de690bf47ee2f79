"""`make site`: the kit as static pages, in build/site; open index.html in a browser.

python -m tools.site [FOLDER]
"""

import sys
import time

from tools.site.build import OUT, build

if __name__ == "__main__":
    began, out = time.time(), sys.argv[1] if len(sys.argv) > 1 else OUT
    pages = build(out)
    print(f"{pages} pages in {time.time() - began:.0f} s. Open {out}/index.html in a browser.")
