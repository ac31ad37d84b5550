"""What people decide in the app, each kind of it a row: how it is read, shown and prepared."""
