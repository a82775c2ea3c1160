"""Answers every question of the answer key and judges the answers: the same as `docmind answers`."""

import sys

from docmind.cli import main

if __name__ == "__main__":
    sys.exit(main(["answers", *sys.argv[1:]]))
