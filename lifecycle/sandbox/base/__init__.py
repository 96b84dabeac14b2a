"""What every subject uses: errors, ids and timestamps."""
