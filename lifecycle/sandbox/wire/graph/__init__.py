"""What every GraphQL type needs: running, walking, paging and refusing."""
