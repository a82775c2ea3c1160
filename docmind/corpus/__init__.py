"""stub: FORMATS, load(root, exclude=()) -> tuple[Document, ...]"""
