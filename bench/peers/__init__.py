"""What the benches need besides themselves: the other engines, written as well as we can, and the meters."""
