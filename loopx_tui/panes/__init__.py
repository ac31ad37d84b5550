"""The panes of the first screen, a module each, named as on the screen."""
