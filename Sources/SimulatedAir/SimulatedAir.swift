// SimulatedAir
