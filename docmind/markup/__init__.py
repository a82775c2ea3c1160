"""Markdown: a page cleaned for reading and searching, and the structure of a cleaned text. It reads no files.

markdown-it-py (CommonMark and tables) decides what is code, a link or a tag; nothing here guesses at that.
"""

from docmind.markup.cleaning import Cleaned, clean
from docmind.markup.structure import Block, Heading, blocks, headings

__all__ = ["Block", "Cleaned", "Heading", "blocks", "clean", "headings"]
