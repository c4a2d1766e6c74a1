package leg

import (
	"errors"
	"log/slog"

	"github.com/callboard/callboard/sip"
)

const sipOK = 200

// ErrNoSession says that the media session of a leg is gone.
var ErrNoSession = errors.New("call: no media session")

// AcceptAnswer takes the SDP of an answer. An answer without SDP confirms that of
// the provisional response of the dialog with the tag previewed (RFC 3261 §13.2.1).
func AcceptAnswer(s Session, e sip.Answered, previewed string) error {
	if len(e.Body) == 0 && previewed != "" && previewed == e.State.RemoteTag {
		return nil
	}
	return s.Accept(e.Body)
}

// AnswerReoffer answers a new offer of the peer. The error says why the offer was
// refused.
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
		log.Warn("a new offer was refused", slog.Any("error", err))
		e.Reply(488, nil, RefusalWarning(err)...)
		return err
	}
	e.Reply(200, body)
	return nil
}

// RenewKey renews the SRTP key of what we send, by an offer within the dialog. If the
// peer refuses it, the call stays as it is, and the session asks again.
func RenewKey(log *slog.Logger, s Session, d Dialog) {
	if s == nil || d == nil {
		return
	}
	s.Rekey()
	d.Reoffer(s.Offer(), func(r sip.OfferResult) {
		if r.Err != nil || r.Code != sipOK {
			log.Warn("a new key was refused", slog.Int("code", r.Code))
			return
		}
		if err := s.Accept(r.Body); err != nil {
			log.Warn("the answer to a new key cannot be used", slog.Any("error", err))
		}
	})
}
