package testcarrier

import (
	"strings"
	"time"
)

// behavior describes how a phone of the test carrier reacts to a call.
type behavior struct {
	code          int           // refuses with this status code; 0: does not refuse
	ringsFirst    bool          // rings before it refuses
	ringsForever  bool          // rings until the caller gives up
	extraRingTime time.Duration // rings so much longer than a person would
	greeting      string        // text spoken when it answers
	beep          bool          // plays a beep after the greeting
	isFax         bool          // sounds like a fax machine
	keys          string        // keys pressed once the caller has spoken and pauses
	speech        string        // text spoken once the caller has spoken and pauses
	hangsUpAfter  time.Duration // hangs up so long after the answer
	isPassive     bool          // neither speaks nor presses keys
	greetsFirst   bool          // greets before the caller has spoken
}

// contractNumbers are the documented numbers of the test environment (API.md), by their last four digits.
var contractNumbers = map[string]behavior{ //nolint:gochecknoglobals // a table
	"0000": personPressing("1"),
	"0001": {code: 486},
	"0002": {ringsForever: true},
	"0003": {extraRingTime: time.Second, greeting: "Hello. You have reached the voice mail of this number. Please leave a message after the tone.", beep: true, greetsFirst: true},
	"0004": personPressing("2"),
	"0005": {code: 404},
	"0006": {code: 503},
	"0007": {greeting: "Hello?", greetsFirst: true, speech: "Stop."},
	"0008": {isFax: true},
	"0009": {isPassive: true},
}

// demoNumbers are further numbers +1500555nnxx, by their last two digits xx. They give a campaign varied results.
var demoNumbers = map[string]behavior{ //nolint:gochecknoglobals // a table
	"11": personPressing("1"),
	"12": personPressing("2"),
	"13": {code: 603, ringsFirst: true},
	"14": {code: 486, ringsFirst: true},
	"15": {ringsForever: true},
	"16": {extraRingTime: time.Second, greeting: "Please leave a message after the tone.", beep: true, greetsFirst: true},
	"17": personPressing("71"),
	"18": {greeting: "Hello?", greetsFirst: true, hangsUpAfter: 1500 * time.Millisecond},
	"19": {code: 404},
	"20": {code: 480, ringsFirst: true},
}

func personPressing(keys string) behavior {
	return behavior{greeting: "Hello?", greetsFirst: true, keys: keys}
}

// behaviorOf returns the behavior of the phone with a number: from contractNumbers, or else from demoNumbers. At all
// other numbers a person answers and presses 1.
func behaviorOf(number string) behavior {
	digits := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, number)
	area := strings.HasPrefix(digits, "1500555") && len(digits) == 11
	if !area {
		return personPressing("1")
	}
	if n, ok := contractNumbers[digits[7:]]; ok {
		return n
	}
	if n, ok := demoNumbers[digits[9:]]; ok {
		return n
	}
	return personPressing("1")
}
