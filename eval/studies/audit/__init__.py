"""An audit of a collection: attacks and usefulness beside controls, with gates that can stop a release."""
