// Values of OAuth 2.0 and its neighbours; no I/O.
