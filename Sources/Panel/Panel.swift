// Panel
