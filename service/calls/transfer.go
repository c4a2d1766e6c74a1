package calls

import (
	"github.com/callboard/callboard/domain"
)

// Transfer hands the caller of a live call on: exactly one of To, Phone and
// Destination says to whom.
type Transfer struct {
	To          string              // E.164, or national in the workspace's default country
	Phone       string              // extension or id
	Destination string              // a name of the agent's destinations
	Mode        domain.TransferMode // "": as the destination says, else bridge
	Summary     string              // told to whoever answers, before the caller is heard
}
