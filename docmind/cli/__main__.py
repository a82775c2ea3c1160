"""`python -m docmind.cli`."""

import sys

from docmind.cli import main

sys.exit(main())
