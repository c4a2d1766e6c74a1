package transferleg

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/registrar"
)

// Target is where a caller is transferred to: a number, or a registered phone.
type Target struct {
	To    string // as the record shows it
	Name  string // of the destination
	Mode  domain.TransferMode
	Phone *Phone // nil: To is a number in E.164, for the trunks
}

// Phone is a registered phone.
type Phone struct {
	To       string              // user of the INVITE
	Contacts []registrar.Contact // all of them are called; at least one
	Media    domain.Trunk        // its media settings
}
