package leg

import (
	"errors"
	"log/slog"

	"github.com/callboard/callboard/sip"
)

const sipOK = 200

// ErrNoSession says that the media session of a leg is closed.
var ErrNoSession = errors.New("call: no media session")

// AcceptAnswer passes the SDP of a 200 response to the session. If the 200 has no SDP, the SDP of the provisional
// response with the To tag previewed stays in force (RFC 3261 §13.2.1).
func AcceptAnswer(s Session, e sip.Answered, previewed string) error {
	if len(e.Body) == 0 && previewed != "" && previewed == e.State.RemoteTag {
		return nil
	}
	return s.Accept(e.Body)
}

// AnswerReoffer answers the SDP offer in a re-INVITE of the peer. The error says why the offer was refused.
func AnswerReoffer(log *slog.Logger, s Session, e sip.Reoffer) error {
	if s == nil {
		e.Reply(500, nil)
		return nil
	}
	if len(e.Body) == 0 {
		e.Reply(200, s.Offer())
		return nil
	}
	body, err := s.Answer(e.Body)
	if err != nil {
		log.Warn("SDP offer refused", slog.Any("error", err))
		e.Reply(488, nil, RefusalWarning(err)...)
		return err
	}
	e.Reply(200, body)
	return nil
}

// RenewKey renews the SRTP key of sent audio with a re-INVITE. If the peer refuses, the old key stays in use and
// the session requests a new key later.
func RenewKey(log *slog.Logger, s Session, d Dialog) {
	if s == nil || d == nil {
		return
	}
	s.Rekey()
	d.Reoffer(s.Offer(), func(r sip.OfferResult) {
		if r.Err != nil || r.Code != sipOK {
			log.Warn("re-INVITE with a new SRTP key refused", slog.Int("code", r.Code))
			return
		}
		if err := s.Accept(r.Body); err != nil {
			log.Warn("SDP answer to a new SRTP key refused", slog.Any("error", err))
		}
	})
}
