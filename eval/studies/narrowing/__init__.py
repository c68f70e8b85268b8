"""What links a text to public texts of the same person: learned in a game, and measured."""
