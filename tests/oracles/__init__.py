"""What tests compare with: plain loops, closed forms and many digits, one module of each kind."""
