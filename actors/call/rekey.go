package call

import (
	"log/slog"

	"github.com/callboard/callboard/sip"
)

// rekey renews the key of what we send, by an offer within the dialog. A far
// end that refuses it keeps the call as it is; the session asks again.
func rekey(log *slog.Logger, s Session, d Dialog) {
	if s == nil || d == nil {
		return
	}
	s.Rekey()
	d.Reoffer(s.Offer(), func(r sip.Reanswer) {
		if r.Err != nil || r.Code != sipOK {
			log.Warn("a new key was refused", slog.Int("code", r.Code))
			return
		}
		if err := s.Accept(r.Body); err != nil {
			log.Warn("the answer to a new key cannot be used", slogErr(err))
		}
	})
}
