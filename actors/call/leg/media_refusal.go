package leg

import (
	"errors"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/message"
)

// IsMediaRefusal reports whether an error says that the peer's SDP is not acceptable.
func IsMediaRefusal(err error) bool {
	return errors.Is(err, media.ErrNoCodec) || errors.Is(err, media.ErrBadSDP) || errors.Is(err, media.ErrRefusedAddress)
}

// RefusalWarning returns the Warning header (RFC 3261 §20.43) for a refused SDP. It returns nil for other errors.
func RefusalWarning(err error) []message.Header {
	switch {
	case errors.Is(err, media.ErrNoCodec):
		return []message.Header{sip.Warning(sip.WarnMediaFormat, err.Error())}
	case IsMediaRefusal(err):
		return []message.Header{sip.Warning(sip.WarnMiscellaneous, err.Error())}
	}
	return nil
}
