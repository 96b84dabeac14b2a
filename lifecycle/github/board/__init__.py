"""One Projects v2 board, or the labels that stand for it."""
