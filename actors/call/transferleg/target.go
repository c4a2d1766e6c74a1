package transferleg

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/registrar"
)

// Target is the target of a transfer: a number, or a registered phone.
type Target struct {
	To    string // as the call record shows it
	Name  string // of the agent's transfer destination
	Mode  domain.TransferMode
	Phone *Phone // nil: To is a number in E.164, called over the trunks
}

// Phone is a registered phone.
type Phone struct {
	To       string              // user part of the INVITE's URI
	Contacts []registrar.Contact // all of them are called; at least one
	Media    domain.Trunk        // media settings of the phone
}
