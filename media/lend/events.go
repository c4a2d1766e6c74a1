package lend

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/callboard/callboard/media"
)

// readers are all events by their names.
var readers = map[string]func(b []byte) (media.Event, error){
	name(media.Digit{}):        read[media.Digit],
	name(media.Played{}):       read[media.Played],
	name(media.DigitsSent{}):   read[media.DigitsSent],
	name(media.SendInfo{}):     read[media.SendInfo],
	name(media.Hold{}):         read[media.Hold],
	name(media.KeyWorn{}):      read[media.KeyWorn],
	name(media.Vanished{}):     read[media.Vanished],
	name(media.SpeechBegan{}):  read[media.SpeechBegan],
	name(media.SpeechEnded{}):  read[media.SpeechEnded],
	name(media.Answerer{}):     read[media.Answerer],
	name(media.Beep{}):         read[media.Beep],
	name(media.GreetingOver{}): read[media.GreetingOver],
}

func name(e media.Event) string { return reflect.TypeOf(e).Name() }

func read[E media.Event](b []byte) (media.Event, error) {
	var e E
	err := json.Unmarshal(b, &e)
	return e, err
}

// appendEvent writes an event: the length of its name, the name, and JSON.
func appendEvent(b []byte, e media.Event) ([]byte, error) {
	body, err := json.Marshal(e)
	if err != nil {
		return b, err
	}
	n := name(e)
	return append(append(append(b, byte(len(n))), n...), body...), nil //nolint:gosec // a short name
}

// readEvent reads what appendEvent has written.
func readEvent(b []byte) (media.Event, error) {
	if len(b) == 0 || len(b) < 1+int(b[0]) {
		return nil, fmt.Errorf("%w: an event without a name", ErrProtocol)
	}
	what := readers[string(b[1:1+b[0]])]
	if what == nil {
		return nil, fmt.Errorf("%w: an unknown event", ErrProtocol)
	}
	return what(b[1+b[0]:])
}
