"""Markdown: a page cleaned for reading and searching, and the blocks of a cleaned text. It reads no files.

markdown-it-py (CommonMark and tables) decides what is code, a link or a tag; nothing here guesses at that.
"""

from docmind.markup.cleaning import Cleaned, clean, left_out
from docmind.markup.structure import blocks

__all__ = ["Cleaned", "blocks", "clean", "left_out"]
