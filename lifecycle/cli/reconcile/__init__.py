"""`lifecycle reconcile`: its options, outputs and screen."""
