package call

import (
	"errors"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/message"
)

// isMediaRefusal says whether an error is of the peer's SDP.
func isMediaRefusal(err error) bool {
	return errors.Is(err, media.ErrNoCodec) || errors.Is(err, media.ErrBadSDP) || errors.Is(err, media.ErrRefusedAddress)
}

// warning is the Warning header of a refused description; none where the error is
// another one.
func warning(err error) []message.Header {
	switch {
	case errors.Is(err, media.ErrNoCodec):
		return []message.Header{sip.Warning(sip.WarnMediaFormat, err.Error())}
	case isMediaRefusal(err):
		return []message.Header{sip.Warning(sip.WarnMiscellaneous, err.Error())}
	}
	return nil
}

// mediaRefused keeps why the peer's SDP was refused, for the record of the call.
func (c *call) mediaRefused(err error) {
	if isMediaRefusal(err) {
		c.call.MediaIssue = "The SDP was refused: " + err.Error() + "."
	}
}
