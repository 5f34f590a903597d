// Sessions in the desktop's Secret Service.
