package actors

import (
	"github.com/asynkron/protoactor-go/actor"
)

// workspaceStore reads and writes the rows from which the actors of a workspace start.
type workspaceStore struct {
	rows        Store
	boot        string
	resume      bool // live calls of an earlier process may be resumed
	quarantined bool
	campaign    func(workspaceID, id string) *actor.PID
}
