"""Builds the indexes of the chunkers named, or of all: the same as `docmind index`."""

import sys

from docmind.cli import main

if __name__ == "__main__":
    sys.exit(main(["index", *sys.argv[1:]]))
