package leg

import (
	"errors"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/message"
)

// IsMediaRefusal reports whether an error is about the peer's SDP.
func IsMediaRefusal(err error) bool {
	return errors.Is(err, media.ErrNoCodec) || errors.Is(err, media.ErrBadSDP) || errors.Is(err, media.ErrRefusedAddress)
}

// RefusalWarning is the Warning header of a refused SDP; none for other errors.
func RefusalWarning(err error) []message.Header {
	switch {
	case errors.Is(err, media.ErrNoCodec):
		return []message.Header{sip.Warning(sip.WarnMediaFormat, err.Error())}
	case IsMediaRefusal(err):
		return []message.Header{sip.Warning(sip.WarnMiscellaneous, err.Error())}
	}
	return nil
}
