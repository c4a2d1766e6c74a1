package outbox

// NextID exports nextID to its test. The fake clock of the actor tests cannot go back, so they cannot cover this case.
var NextID = nextID
