"""Scores retrieval against the answer key: the same as `docmind eval`."""

import sys

from docmind.cli import main

if __name__ == "__main__":
    sys.exit(main(["eval", *sys.argv[1:]]))
