"""What the web page needs: an engine for many visitors, replies, a visitor's documents, and how they are shown."""
