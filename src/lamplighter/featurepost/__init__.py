"""Makes feature posts and keeps them in stock; never publishes one."""
