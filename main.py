"""Asks the handbook from a terminal: the same as `docmind chat`."""

import sys

from docmind.cli import main

if __name__ == "__main__":
    sys.exit(main(["chat", *sys.argv[1:]]))
