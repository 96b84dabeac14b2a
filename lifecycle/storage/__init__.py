"""Files and databases of ours: atomic writes, marks, logs, the ledger and the journal."""
