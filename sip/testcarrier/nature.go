package testcarrier

import (
	"strings"
	"time"
)

// nature is how a phone behaves.
type nature struct {
	code      int           // refuses with it; 0: does not refuse
	rings     bool          // before it refuses
	forever   bool          // rings until the caller gives up
	after     time.Duration // rings longer than a person would
	greeting  string        // said when it answers
	beep      bool          // after the greeting
	fax       bool          // sounds like one
	presses   string        // once the caller has spoken and pauses
	says      string        // likewise
	leaves    time.Duration // hangs up so long after the answer
	deaf      bool          // says and presses nothing
	saysFirst bool          // greets before the caller has spoken
}

// magic are the numbers of the test environment, by their last four digits.
var magic = map[string]nature{ //nolint:gochecknoglobals // a table
	"0000": person("1"),
	"0001": {code: 486},
	"0002": {forever: true},
	"0003": {after: time.Second, greeting: "Hello. You have reached the voice mail of this number. Please leave a message after the tone.", beep: true, saysFirst: true},
	"0004": person("2"),
	"0005": {code: 404},
	"0006": {code: 503},
	"0007": {greeting: "Hello?", saysFirst: true, says: "Stop."},
	"0008": {fax: true},
	"0009": {deaf: true},
}

// demo are further numbers +1500555nnxx, by their last two digits: they give a
// campaign a lively mix.
var demo = map[string]nature{ //nolint:gochecknoglobals // a table
	"11": person("1"),
	"12": person("2"),
	"13": {code: 603, rings: true},
	"14": {code: 486, rings: true},
	"15": {forever: true},
	"16": {after: time.Second, greeting: "Please leave a message after the tone.", beep: true, saysFirst: true},
	"17": person("71"),
	"18": {greeting: "Hello?", saysFirst: true, leaves: 1500 * time.Millisecond},
	"19": {code: 404},
	"20": {code: 480, rings: true},
}

func person(keys string) nature {
	return nature{greeting: "Hello?", saysFirst: true, presses: keys}
}

// natureOf finds how the phone of a number behaves: the magic numbers of the
// test environment first, then the demo's; everybody else is a person who
// presses 1.
func natureOf(number string) nature {
	digits := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, number)
	area := strings.HasPrefix(digits, "1500555") && len(digits) == 11
	if !area {
		return person("1")
	}
	if n, ok := magic[digits[7:]]; ok {
		return n
	}
	if n, ok := demo[digits[9:]]; ok {
		return n
	}
	return person("1")
}
