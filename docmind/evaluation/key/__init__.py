"""The answer key: its lines, their forms, and where their evidence stands in the documents."""
