package record

// SweepRows is how many expired rows one visit of retention deletes.
const SweepRows = 200
