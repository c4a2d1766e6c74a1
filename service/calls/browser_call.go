package calls

import (
	"github.com/callboard/callboard/domain"
)

// NewTalk is a call that somebody makes to an agent in a browser.
type NewTalk struct {
	AgentID string
	From    string // the caller's number; "": 15005550000
}

// Talk is one end of such a call.
type Talk struct {
	CallID string
	Say    func(mu []byte)   // 8 kHz mono µ-law of any length, at the pace at which it shall be heard
	Press  func(keys string) // 0 to 9, A to D, * and #
	Leave  func()            // hangs up; as often as one likes
}

// Listener hears the other end. None of its functions may block.
type Listener struct {
	Sound   func(frame []byte)     // of ListenFrame bytes, overwritten afterwards; nil once, at the end
	Segment func(s domain.Segment) // what is said, when it begins and whenever more is known of it
	State   func(status domain.CallStatus)
	Key     func(key byte) // that the agent presses
}
