"""What people and bots say of a pull request: read, remembered by GitHub's ids, packed, answered."""
