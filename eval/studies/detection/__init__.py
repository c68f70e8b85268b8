"""How good detectors are: a table of figures over corpora that were not trained on."""
