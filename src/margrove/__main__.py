"""`python -m margrove` is the program `margrove`."""

import sys

from margrove.cli import main

sys.exit(main())
