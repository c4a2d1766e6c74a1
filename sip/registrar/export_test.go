package registrar

import (
	sipmsg "github.com/emiago/sipgo/sip"

	"github.com/callboard/callboard/sip/message"
)

// ReadChange parses the contacts of a REGISTER.
func ReadChange(contact, expires string) (Change, int) {
	return ParseRegister(&message.Message{Headers: []sipmsg.Header{sipmsg.NewHeader("m", contact), sipmsg.NewHeader("Expires", expires)}})
}
