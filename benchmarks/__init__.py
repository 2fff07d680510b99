"""Speed, memory and cost beside peers, in one run; never a test."""
