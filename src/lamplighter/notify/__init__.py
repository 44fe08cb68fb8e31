"""What a person is told, and how it reaches them; never decides what is worth telling."""
