"""Operations that may be repeated: each reads, compares, and writes only the difference.

One file a subject. The first line of an operation's docstring says what is true after it. They sit on the
calls of `lifecycle/github/`, and raise only Refused, Transient and Rejected. Requests are counted as if
each were paid for: every docstring says how many are made.
"""
