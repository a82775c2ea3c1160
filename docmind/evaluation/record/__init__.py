"""What stands in the files of a run, with one reader and one writer of each. No figure is made here."""
