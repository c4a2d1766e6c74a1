package outbox

// NextID exports nextID, because the fake clock of the other tests cannot go back.
var NextID = nextID
