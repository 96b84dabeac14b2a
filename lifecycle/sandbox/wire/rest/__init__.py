"""What every REST endpoint needs: the router, and the questions asked before an answer."""
