"""One Projects v2 board, or the labels used in its place."""
