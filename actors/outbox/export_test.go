package outbox

// NextID is nextID, for its own test: the clock of the other tests never goes
// back.
var NextID = nextID
